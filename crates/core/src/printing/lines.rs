//! The lines that a launch has printed.

use std::fmt;

use wattle_ir::Site;

/// What a launch has printed. As text it is the lines, and one more if some were lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The lines, in the order of the threads, and in each thread's own order.
    pub lines: Vec<PrintedLine>,
    /// The number of lines that were lost: the log has room for
    /// [`LaunchOptions::print_buffer`](crate::LaunchOptions::print_buffer) bytes.
    pub lost: u64,
}

/// A line that a thread has printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedLine {
    /// The row-major number of the thread's block in the grid.
    pub block: u32,
    /// The row-major number of the thread in its block.
    pub thread: u32,
    /// The source line of the `println!`.
    pub site: Site,
    /// The line, without its end.
    pub text: String,
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{}", line.text)?;
        }
        if self.lost > 0 {
            writeln!(
                f,
                "(kernel `{}` has printed {} more lines, which its log has no room for; `LaunchOptions::print_buffer` \
                 makes it larger)",
                self.kernel, self.lost
            )?;
        }
        Ok(())
    }
}
