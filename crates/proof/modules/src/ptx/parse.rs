//! Tokens become statements (PTX ISA 4 "Syntax", 5 "State Spaces, Types, and Variables", 11 "Directives").

use std::collections::HashMap;

use super::Parsed;
use super::cursor::Parser;
use super::lex::{Token, tokens};
use super::statement::{Entry, Function, Instruction, Statement, Text, Variable};
use super::variables::variable;
use crate::Refused;
use crate::types::{Sort, Space, Type};

/// Parses a module.
///
/// # Errors
/// The text is not PTX, or uses something that this reader does not support.
pub fn parse(text: &str) -> Result<Text, Refused> {
    let tokens = tokens(text)?;
    Parser::of(text, &tokens).module()
}

/// The directives that make clusters of several blocks (PTX ISA 8.8, 11.7 "Cluster Dimension Directives").
const CLUSTERS: [&str; 3] = [".reqnctapercluster", ".explicitcluster", ".blocksareclusters"];

/// The most scopes that stand in one another.
const MOST_DEPTH: u32 = 64;

impl Parser<'_> {
    fn module(&mut self) -> Parsed<Text> {
        if !self.is_word(".version") {
            return self.fail("Missing .version directive at start of file");
        }
        let version = self.version()?;
        if !self.is_word(".target") {
            return self.fail("Missing .target directive");
        }
        let sm = self.target()?;
        let mut text = Text {
            version,
            sm,
            variables: Vec::new(),
            entries: Vec::new(),
            functions: Vec::new(),
            files: HashMap::new(),
        };
        while self.peek().is_some() {
            self.definition(&mut text)?;
        }
        Ok(text)
    }

    fn version(&mut self) -> Parsed<(u32, u32)> {
        let line = self.line();
        match self.next()? {
            Token::Double(bits) => {
                let tenths = (f64::from_bits(bits) * 10.0).round() as u32;
                Ok((tenths / 10, tenths % 10))
            }
            other => Err(Refused::new(line, format!("expected a version, found `{other}`"))),
        }
    }

    fn target(&mut self) -> Parsed<u32> {
        let word = self.word()?;
        let digits = word.strip_prefix("sm_").map(|rest| rest.trim_end_matches(['a', 'f']));
        let Some(sm) = digits.and_then(|digits| digits.parse().ok()) else {
            return self.fail(format!("Unknown target '{word}'"));
        };
        // What is said of textures is nothing to kernels without any.
        while self.sign(',') {
            if !["debug", "texmode_independent", "texmode_unified"].iter().any(|option| self.is_word(option)) {
                return self.fail(
                    "the options of .target that are known here are debug, texmode_independent and texmode_unified",
                );
            }
        }
        Ok(sm)
    }

    fn definition(&mut self, text: &mut Text) -> Parsed<()> {
        let mut external = false;
        loop {
            let line = self.line();
            let word = self.word()?;
            match word.as_str() {
                ".address_size" => {
                    if self.count()? != 64 {
                        return Err(Refused::new(line, "only .address_size 64"));
                    }
                    return Ok(());
                }
                // A common variable is one for all modules that declare it (11.6.4), and here there is one module.
                ".visible" | ".weak" | ".common" => {}
                ".extern" => external = true,
                ".entry" => {
                    text.entries.push(self.entry(line)?);
                    return Ok(());
                }
                ".global" | ".const" | ".shared" => {
                    let space = Space::named(&word[1..]).expect("it is a space");
                    let variable = variable(self, space, external)?;
                    text.variables.push(variable);
                    return self.must(';');
                }
                ".file" => return self.file(&mut text.files),
                ".section" => return self.section(),
                ".pragma" => return self.pragma(),
                ".func" => return self.function(line, &mut text.functions),
                _ => return Err(Refused::new(line, format!("Unknown directive '{word}'"))),
            }
        }
    }

    /// Parameters, or results, in parentheses, if there are some.
    fn params(&mut self) -> Parsed<Vec<Variable>> {
        let mut params = Vec::new();
        if self.sign('(') && !self.sign(')') {
            loop {
                if !self.is_word(".param") {
                    return self.fail("parameters are of .param space");
                }
                params.push(variable(self, Space::Param, false)?);
                if !self.sign(',') {
                    break;
                }
            }
            self.must(')')?;
        }
        Ok(params)
    }

    /// A function, or a declaration of one whose definition stands elsewhere: `.func (results) name (parameters) { …
    /// }`.
    fn function(&mut self, line: u32, functions: &mut Vec<Function>) -> Parsed<()> {
        let results = self.params()?;
        let name = self.word()?;
        let params = self.params()?;
        self.is_word(".noreturn");
        let body = if self.sign(';') {
            None
        } else {
            self.must('{')?;
            let mut body = Vec::new();
            while !self.sign('}') {
                self.statement(&mut body)?;
            }
            Some(body)
        };
        let known = functions.iter_mut().find(|known| known.name == name);
        match (known, body) {
            (Some(Function { body: Some(_), .. }), Some(_)) => {
                return Err(Refused::new(line, format!("Duplicate definition of function '{name}'")));
            }
            (Some(_), None) => {}
            (Some(known), body) => *known = Function { name, results, params, body },
            (None, body) => functions.push(Function { name, results, params, body }),
        }
        Ok(())
    }

    fn entry(&mut self, line: u32) -> Parsed<Entry> {
        let name = self.word()?;
        let params = self.params()?;
        let (mut most_threads, mut exact_threads, mut clusters, mut blocks) = (None, None, None, None);
        loop {
            if self.is_word(".maxntid") {
                most_threads = Some(self.extents()?);
            } else if self.is_word(".reqntid") {
                exact_threads = Some(self.extents()?);
            } else if [".minnctapersm", ".maxnctapersm", ".maxnreg", ".maxclusterrank"]
                .iter()
                .any(|word| self.is_word(word))
            {
                self.count()?;
            } else if self.is_word(".pragma") {
                self.pragma()?;
            } else if let Some(&word) = CLUSTERS.iter().find(|&&word| self.is_word(word)) {
                clusters = clusters.or(Some(word));
                if word == ".reqnctapercluster" {
                    blocks = Some(self.extents()?);
                }
            } else {
                break;
            }
        }
        // A cluster of one block is a block.
        let clusters = clusters.filter(|_| blocks != Some([1; 3]));
        self.must('{')?;
        let mut body = Vec::new();
        while !self.sign('}') {
            self.statement(&mut body)?;
        }
        Ok(Entry { name, params, most_threads, exact_threads, clusters, body, line })
    }

    /// Parses one to three extents; missing ones are 1.
    fn extents(&mut self) -> Parsed<[u32; 3]> {
        let mut extents = [1; 3];
        for (axis, extent) in extents.iter_mut().enumerate() {
            if axis > 0 && !self.sign(',') {
                break;
            }
            *extent = self.count()?;
        }
        Ok(extents)
    }

    fn statement(&mut self, body: &mut Vec<Statement>) -> Parsed<()> {
        let line = self.line();
        let start = self.end();
        if self.sign('{') {
            if self.depth == MOST_DEPTH {
                return self.fail("scopes stand in one another more deeply than is known here");
            }
            self.depth += 1;
            let mut within = Vec::new();
            while !self.sign('}') {
                self.statement(&mut within)?;
            }
            self.depth -= 1;
            body.push(Statement::Scope(within));
            return Ok(());
        }
        let guard = if self.sign('@') {
            let negated = self.sign('!');
            Some((self.word()?, negated))
        } else {
            None
        };
        let word = self.word()?;
        if guard.is_none() {
            if self.sign(':') {
                if self.is_word(".branchtargets") {
                    body.push(Statement::Targets { name: word, labels: self.labels()?, line });
                } else if self.is_word(".callprototype") || self.is_word(".calltargets") {
                    // What a call by address may reach is found by the sizes of what it is given (11.3.2, 11.3.3).
                    while self.next()? != Token::Sign(';') {}
                } else {
                    body.push(Statement::Label(word, line));
                }
                return Ok(());
            }
            if word.starts_with('.') {
                return self.local_definition(&word, line, body);
            }
        }
        let mut operands = Vec::new();
        if !self.sign(';') {
            loop {
                operands.push(self.operand()?);
                if !self.sign(',') {
                    break;
                }
            }
            self.must(';')?;
        }
        let lines =
            self.text[start..self.end()].lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
        let text = lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
        body.push(Statement::Instruction(Instruction { guard, opcode: word, operands, line, text }));
        Ok(())
    }

    /// The labels of a list of branch targets, up to its `;` (11.3.1 ".branchtargets").
    fn labels(&mut self) -> Parsed<Vec<String>> {
        let mut labels = vec![self.word()?];
        while self.sign(',') {
            labels.push(self.word()?);
        }
        self.must(';')?;
        Ok(labels)
    }

    fn local_definition(&mut self, word: &str, line: u32, body: &mut Vec<Statement>) -> Parsed<()> {
        // CUDA's headers write `.reg.b32` as one word.
        let (word, glued) = match word.strip_prefix(".reg.") {
            Some(ty) => (".reg", Some(ty)),
            None => (word, None),
        };
        match word {
            ".reg" => {
                let ty = match glued.map(Type::named) {
                    Some(Some(ty)) => ty,
                    Some(None) => return Err(Refused::new(line, "a register needs a type")),
                    // Refused where the kernel is asked for.
                    None if self.peek() == Some(&Token::Word(".b128".into())) => {
                        self.word()?;
                        Type { sort: Sort::Bits, bits: 128 }
                    }
                    None => self.ty()?,
                };
                if ty.bits == 8 {
                    return Err(Refused::new(
                        line,
                        format!(
                            "registers of type {ty} are not supported: use one of 16 bits, to which `ld` and `cvt` extend"
                        ),
                    ));
                }
                loop {
                    let name = self.word()?;
                    let count = if self.sign('<') {
                        let count = self.count()?;
                        self.must('>')?;
                        Some(count)
                    } else {
                        None
                    };
                    body.push(Statement::Register { ty, name, count, line });
                    if !self.sign(',') {
                        return self.must(';');
                    }
                }
            }
            ".shared" | ".local" | ".param" => {
                let space = Space::named(&word[1..]).expect("it is a space");
                body.push(Statement::Variable(variable(self, space, false)?));
                self.must(';')
            }
            ".pragma" => self.pragma(),
            ".loc" => {
                let assembly = self.tokens[self.at - 1].assembly;
                let place = self.loc(line)?;
                // LLVM counts the lines of inline assembly on from the line of the source that it stands on.
                if assembly == 0 || assembly != self.located {
                    body.push(Statement::Loc(place));
                }
                self.located = assembly;
                Ok(())
            }
            _ => Err(Refused::new(line, format!("Unknown directive '{word}'"))),
        }
    }

    fn pragma(&mut self) -> Parsed<()> {
        self.next()?;
        self.must(';')
    }
}
