//! The text of a SPIR-V module, as it grows.

use std::collections::BTreeSet;
use std::fmt::Write;

/// The body of the entry point, and the constants that it names.
#[derive(Default)]
pub struct Words {
    pub body: String,
    signed: BTreeSet<i32>,
    unsigned: BTreeSet<u32>,
    labels: u32,
    results: u32,
    variables: u32,
}

impl Words {
    /// Adds an instruction.
    pub fn line(&mut self, instruction: String) {
        self.body += &instruction;
        self.body.push('\n');
    }

    /// Adds an instruction with a result, which is returned.
    pub fn result(&mut self, instruction: String) -> String {
        self.results += 1;
        let result = format!("%x{}", self.results);
        self.line(format!("{result} = {instruction}"));
        result
    }

    /// A new label.
    pub fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    /// A new variable of the entry point.
    pub fn variable(&mut self) -> String {
        self.variables += 1;
        format!("%taken{}", self.variables)
    }

    /// The declarations of such variables.
    pub fn variables(&self) -> String {
        (1..=self.variables).map(|number| format!("%taken{number} = OpVariable %local Function\n")).collect()
    }

    /// Begins the block of a label.
    pub fn begin(&mut self, label: u32) {
        self.line(format!("%l{label} = OpLabel"));
    }

    /// A signed constant.
    pub fn int(&mut self, value: i32) -> String {
        self.signed.insert(value);
        signed(value)
    }

    /// An unsigned constant.
    pub fn uint(&mut self, value: u32) -> String {
        self.unsigned.insert(value);
        format!("%u{value}")
    }

    /// The declarations of all constants.
    pub fn constants(&self) -> String {
        let mut text = String::new();
        for &value in &self.signed {
            let _ = writeln!(text, "{} = OpConstant %int {value}", signed(value));
        }
        for value in &self.unsigned {
            let _ = writeln!(text, "%u{value} = OpConstant %uint {value}");
        }
        text
    }
}

fn signed(value: i32) -> String {
    if value < 0 { format!("%m{}", value.unsigned_abs()) } else { format!("%i{value}") }
}
