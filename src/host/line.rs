// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text for an operator, made on the stack: a line of the log, the lines of a report.

use crate::limits::TEXT_BYTES;
use core::fmt::{self, Write};

/// One line of text. What does not fit is cut.
pub(crate) struct Line(heapless::String<{ TEXT_BYTES * 2 }>);

impl Line {
    pub(crate) const fn new() -> Self {
        Self(heapless::String::new())
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            self.0.push(c).map_err(|_| fmt::Error)?;
        }
        Ok(())
    }
}

/// Where a report's lines go, one by one, without newline.
pub(crate) struct Printer<'a> {
    sink: &'a mut dyn FnMut(&str),
    line: Line,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(sink: &'a mut dyn FnMut(&str)) -> Self {
        Self { sink, line: Line::new() }
    }

    pub(crate) fn print(&mut self, text: fmt::Arguments<'_>) {
        self.line.0.clear();
        // A line that is full is cut, not lost.
        let _ = self.line.write_fmt(text);
        (self.sink)(self.line.text());
    }
}
