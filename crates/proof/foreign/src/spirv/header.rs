//! The comments at the head of a SPIR-V text that say how to run it, as Dartagnan's test suite writes them.
//!
//! - `; @Config: a, b, c`: threads of a subgroup, subgroups of a workgroup, workgroups;
//! - `; @Input: %x = {{0, 1}, 2}`: the first contents of a variable, or the value of a specialization constant;
//! - `; @Output: forall (%x[0][1] == 2 and %y != 0)`, `exists (…)`, `not exists (…)`: what is claimed of the end.

use std::collections::HashMap;

use thiserror::Error;
use wattle_modules::spirv::{Contents, Setting};

use super::claim::Claim;

/// The setting of a launch and the claim about its end, as the comments of a module give them.
#[derive(Debug, Default)]
pub struct Header {
    /// Threads of a subgroup, subgroups of a workgroup, workgroups.
    pub config: Option<[u32; 3]>,
    /// The first contents of variables, by name.
    pub inputs: HashMap<String, Contents>,
    /// The claim about the end.
    pub claim: Option<Claim>,
}

/// A comment that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {why}")]
pub struct WrongHeader {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong with the comment.
    pub why: String,
}

impl Header {
    /// Reads the comments of a text.
    ///
    /// # Errors
    /// One of them is wrong.
    pub fn read(text: &str) -> Result<Header, WrongHeader> {
        let mut header = Header::default();
        for (line, text) in (1u32..).zip(text.lines()) {
            let comment = text.trim_start().strip_prefix(';').map(str::trim_start);
            let Some((key, value)) = comment.and_then(|comment| comment.strip_prefix('@')?.split_once(':')) else {
                continue;
            };
            let read = match key.trim() {
                "Config" => header.configure(value),
                "Input" => header.input(value),
                "Output" => header.claims(value),
                other => Err(format!("`@{other}` is unknown: there are @Config, @Input and @Output")),
            };
            read.map_err(|why| WrongHeader { line, why })?;
        }
        Ok(header)
    }

    /// The launch that they describe: unless they say more, of one workgroup with as many threads as the module has it.
    pub fn setting(&self) -> Setting {
        Setting {
            local_size: self.config.map(|[threads, subgroups, _]| [threads.saturating_mul(subgroups), 1, 1]),
            workgroups: [self.config.map_or(1, |[_, _, workgroups]| workgroups), 1, 1],
            subgroup: self.config.map(|[threads, ..]| threads),
            checks_indices: false,
            bound: None,
            inputs: self.inputs.clone(),
        }
    }

    fn claims(&mut self, value: &str) -> Result<(), String> {
        let claim = Claim::parse(value)?;
        self.claim = Some(match self.claim.take() {
            None => claim,
            Some(before) => before.and(claim)?,
        });
        Ok(())
    }

    fn configure(&mut self, value: &str) -> Result<(), String> {
        let numbers: Option<Vec<u32>> = value.split(',').map(|part| part.trim().parse().ok()).collect();
        let numbers = numbers.and_then(|numbers| <[u32; 3]>::try_from(numbers).ok());
        let numbers = numbers.filter(|numbers| numbers.iter().all(|number| (1..=1024).contains(number)));
        let wrong = "write three numbers from 1: threads of a subgroup, subgroups of a workgroup, workgroups";
        if self.config.replace(numbers.ok_or(wrong)?).is_some() {
            return Err("there are two of it".into());
        }
        Ok(())
    }

    fn input(&mut self, value: &str) -> Result<(), String> {
        let mut rest = value.trim();
        while !rest.is_empty() {
            let (name, behind) = rest.split_once('=').ok_or("write `%name = contents`")?;
            let name = name.trim().strip_prefix('%').ok_or("a name begins with `%`")?;
            let (contents, behind) = contents(behind, 0)?;
            if self.inputs.insert(name.to_owned(), contents).is_some() {
                return Err(format!("`%{name}` is given twice"));
            }
            rest = match behind.trim_start() {
                "" => "",
                more => more.strip_prefix(',').ok_or_else(|| format!("`{more}` is not expected here"))?.trim_start(),
            };
        }
        Ok(())
    }
}

/// The deepest contents.
const DEEPEST: u32 = 64;

/// Reads contents, and returns the text behind them.
fn contents(text: &str, depth: u32) -> Result<(Contents, &str), String> {
    let text = text.trim_start();
    if depth > DEEPEST {
        return Err("the braces are too deep".into());
    }
    let Some(mut rest) = text.strip_prefix('{') else {
        let end = text.find([',', '}', ' ', '\t']).unwrap_or(text.len());
        if end == 0 {
            return Err("a number is missing".into());
        }
        return Ok((Contents::Number(text[..end].to_owned()), &text[end..]));
    };
    let mut parts = Vec::new();
    loop {
        let (part, behind) = contents(rest, depth + 1)?;
        parts.push(part);
        let behind = behind.trim_start();
        if let Some(behind) = behind.strip_prefix('}') {
            return Ok((Contents::List(parts), behind));
        }
        rest = behind.strip_prefix(',').ok_or("a `,` or a `}` is missing")?;
    }
}
