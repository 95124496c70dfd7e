//! The comments at the head of a module's text that say how to run it, as Dartagnan's test suite writes them in SPIR-V:
//! behind `;` there, and behind `//` in PTX.
//!
//! - `; @Config: a, b, c`: threads of a subgroup, subgroups of a workgroup, workgroups;
//! - `; @Input: %x = {{0, 1}, 2}`: the first contents of a variable, or the value of a specialization constant; or as on
//!   the command line, `%x = u32[3]:0,1,2`, `%n = 8`: the only way to give PTX's pointers memory, since PTX does not say
//!   what they point to;
//! - `; @Output: forall (%x[0][1] == 2 and %y != 0)`, `exists (…)`, `not exists (…)`: what is claimed of the end.

use thiserror::Error;
use wattle_modules::spirv::{Contents, Setting};

use crate::claim::Claim;
use crate::launch::{Argument, Given, given};
use crate::spirv::contents_of;

/// The setting of a launch and the claim about its end, as the comments of a module give them.
#[derive(Debug, Default)]
pub struct Header {
    /// Threads of a subgroup, subgroups of a workgroup, workgroups.
    pub config: Option<[u32; 3]>,
    /// The first contents of variables, in their order, each with its name.
    pub inputs: Vec<(String, Input)>,
    /// The claim about the end.
    pub claim: Option<Claim>,
}

/// The first contents of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// As comments of SPIR-V modules write them, without types.
    Contents(Contents),
    /// As the command line writes them.
    Given(Given),
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
    /// Reads the comments of a SPIR-V text.
    ///
    /// # Errors
    /// One of them is wrong.
    pub fn read(text: &str) -> Result<Header, WrongHeader> {
        Header::of((1u32..).zip(text.lines()), ";")
    }

    /// Reads the comments before the first line of a PTX text that is none.
    ///
    /// # Errors
    /// One of them is wrong.
    pub fn read_ptx(text: &str) -> Result<Header, WrongHeader> {
        let is_head = |(_, line): &(u32, &str)| line.trim().is_empty() || line.trim_start().starts_with("//");
        Header::of((1u32..).zip(text.lines()).take_while(is_head), "//")
    }

    /// Reads the comments among lines, which begin with a mark.
    fn of<'t>(lines: impl Iterator<Item = (u32, &'t str)>, mark: &str) -> Result<Header, WrongHeader> {
        let mut header = Header::default();
        for (line, text) in lines {
            let comment = text.trim_start().strip_prefix(mark).map(str::trim_start);
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
            inputs: self.inputs.iter().map(|(name, input)| (name.clone(), input.contents(name))).collect(),
        }
    }

    /// Whether the comments describe a launch: some are there.
    pub fn describes(&self) -> bool {
        let Header { config, inputs, claim } = self;
        config.is_some() || !inputs.is_empty() || claim.is_some()
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
            let (input, behind) = input(behind.trim_start())?;
            if self.inputs.iter().any(|(known, _)| known == name) {
                return Err(format!("`%{name}` is given twice"));
            }
            self.inputs.push((name.to_owned(), input));
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

impl Input {
    /// The contents of a variable of that name.
    fn contents(&self, name: &str) -> Contents {
        match self {
            Input::Contents(contents) => contents.clone(),
            Input::Given(value) => contents_of(&Argument { name: name.to_owned(), value: value.clone() }),
        }
    }
}

/// Reads the contents of one variable, in either way, and returns the text behind them.
fn input(text: &str) -> Result<(Input, &str), String> {
    // Of the next variable the name begins with `%`, which no contents have.
    let end = text.find('%').map_or(text.len(), |next| text[..next].rfind(',').unwrap_or(next));
    let (own, behind) = text.split_at(end);
    let is_given = own.contains(['=', '[', ':']);
    if is_given {
        return Ok((Input::Given(given(own.trim())?), behind));
    }
    let (contents, behind) = contents(text, 0)?;
    Ok((Input::Contents(contents), behind))
}

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
