//! How reports name threads, places in memory, and places in the text.

use std::fmt;

use cpp_demangle::DemangleOptions;
use wattle_check::search::Address;
use wattle_core::lasting;
use wattle_ir::Site;
use wattle_memory::ThreadId;
use wattle_modules::code::{Op, PlacedVariable};

use super::{Part, World};
use crate::number::Number;
use crate::range::nearest;
use crate::unsupported::Unsupported;

impl World {
    /// The block and the place in it of a thread.
    pub fn position(&self, thread: ThreadId) -> (u64, u64) {
        let part = self.part_of(thread);
        let within = (thread - part.first.min(thread)) as u64;
        (within / part.launch.block_len(), within % part.launch.block_len())
    }

    /// How a report names a thread: its block and its place in it, in as many dimensions as the launch has.
    pub fn thread_name(&self, thread: ThreadId) -> String {
        if self.is_beside(thread) {
            return "the host's thread".into();
        }
        let (block, within) = self.position(thread);
        let name = |linear: u64, of: [u32; 3]| {
            let [x, y, z] = of.map(u64::from);
            match (y, z) {
                (1, 1) => linear.to_string(),
                (_, 1) => format!("({}, {})", linear % x, linear / x),
                _ => format!("({}, {}, {})", linear % x, linear / x % y, linear / x / y),
            }
        };
        let part = self.part_of(thread);
        let (block, thread) = (name(block, part.launch.grid), name(within, part.launch.block));
        let of = if self.parts.len() > 1 { format!(" of `{}`", part.kernel().name) } else { String::new() };
        format!("block {block}, thread {thread}{of}")
    }

    /// The name of a place in memory: `data[3]`.
    pub fn name_of(&self, address: Address) -> String {
        let Some(range) = self.ranges.get(address.memory as usize) else {
            let shared = self.part_of_block(address.memory - self.ranges.len() as u32).shared();
            if let Ok((number, offset)) = nearest(shared, address.element, 1) {
                return shared[number as usize].name_of(offset);
            }
            return self.shared_name(address);
        };
        range.name_of(address.element)
    }

    /// The type of the number that is a cell of memory, where that is known.
    pub(crate) fn number_at(&self, address: Address) -> Option<Number> {
        let is_whole = |number: &Number| self.widths.at(address.memory, address.element) == number.size();
        match self.ranges.get(address.memory as usize) {
            Some(range) => range.number_at(address.element),
            None => {
                let shared = self.part_of_block(address.memory - self.ranges.len() as u32).shared();
                let (number, offset) = nearest(shared, address.element, 1).ok()?;
                shared[number as usize].number_at(offset)
            }
        }
        .filter(is_whole)
    }

    /// The name of a place in the shared memory of a PTX module's block: `tile[3]`, or `tile, byte 12` where the text
    /// does not show what the items are.
    fn shared_name(&self, address: Address) -> String {
        let element = address.element;
        let variables = &self.part_of_block(address.memory - self.ranges.len() as u32).kernel().shared_variables;
        let holds = |variable: &&PlacedVariable| {
            variable.at <= element && variable.bytes.is_none_or(|bytes| element < variable.at + bytes)
        };
        let Some(PlacedVariable { name, at, bytes, item, .. }) = variables.iter().find(holds) else {
            return format!("shared memory, byte {element}");
        };
        let (name, offset) = (plain_name(name), element - at);
        match item {
            Some(item) if *bytes == Some(*item) => name,
            Some(item) if offset.is_multiple_of(*item) => format!("{name}[{}]", offset / item),
            Some(_) | None => format!("{name}, byte {offset}"),
        }
    }

    /// The place in the source that an instruction comes from: the line that `.loc` names, else that of the module. Of
    /// a function that was inlined it is the innermost place in the kernel's own file: calls into libraries are where
    /// the kernel's author looks.
    pub fn place_of(&self, at: usize) -> String {
        if let Some(site) = self.beside.as_ref().and_then(|beside| beside.site(at)) {
            return site.to_string();
        }
        let (file, line, column) = self.shown(at);
        let column = if column > 0 { format!(":{column}") } else { String::new() };
        format!("{file}:{line}{column}")
    }

    /// The place of a module's instruction in its source, as a site.
    pub(crate) fn site_of(&self, at: usize) -> Site {
        let (file, line, column) = self.shown(at);
        Site { file: lasting(file), line, column }
    }

    /// The file, the line, and the column, or 0, of a module's instruction.
    fn shown(&self, at: usize) -> (&str, u32, u32) {
        let (part, number) = self.instruction_of(at);
        let here = part.kernel().sources.get(number).and_then(Option::as_ref).filter(|source| source.line > 0);
        let Some(here) = here else { return (&part.source.file, self.line(at), 0) };
        let shown = here.in_own_file();
        (&shown.file, shown.line, shown.column)
    }

    /// The line of the module that an instruction stands on.
    pub fn line(&self, at: usize) -> u32 {
        let (part, at) = self.instruction_of(at);
        part.kernel().lines.get(at).copied().unwrap_or(0)
    }

    /// The text of an instruction.
    pub fn text(&self, at: usize) -> String {
        if self.beside.as_ref().is_some_and(|beside| beside.site(at).is_some()) {
            return "of the host part".into();
        }
        let (part, _) = self.instruction_of(at);
        line_of(part, self.line(at))
    }

    /// The text of a line of the module, of the first launch where there are several.
    pub(crate) fn source_line(&self, line: u32) -> String {
        line_of(&self.parts[0], line)
    }

    /// What the module's language calls the threads that do operations together.
    pub(crate) fn warp_word(&self, thread: ThreadId) -> &'static str {
        if self.part_of(thread).spirv.is_some() { "subgroup" } else { "warp" }
    }

    /// Whether an instruction is one that lanes of a warp do together.
    pub(crate) fn is_exchange(&self, at: usize) -> bool {
        if self.beside.as_ref().is_some_and(|beside| beside.site(at).is_some()) {
            return false;
        }
        let (part, number) = self.instruction_of(at);
        part.kernel().steps.get(number).is_some_and(|step| matches!(step.op, Op::Exchange { .. }))
    }

    /// Whether a thread is a host part's.
    pub(crate) fn is_beside(&self, thread: ThreadId) -> bool {
        let of = |part: &Part| part.first..part.first + (part.launch.blocks() * part.launch.block_len()) as usize;
        !self.parts.iter().any(|part| of(part).contains(&thread))
    }

    pub(super) fn instruction(&self, at: usize, why: &str) -> Unsupported {
        let (part, _) = self.instruction_of(at);
        let (file, line, instruction) = (part.source.file.clone(), self.line(at), self.text(at));
        let place = self.place_of(at);
        let source = if place.starts_with(&file) { String::new() } else { format!(" (of {place})") };
        Unsupported::Instruction { file, line, instruction, why: format!("{why}{source}") }
    }
}

/// The text of a line of a launch's module.
fn line_of(part: &Part, line: u32) -> String {
    let number = (line as usize).saturating_sub(1);
    part.source.text.lines().nth(number).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of a variable in the source: `tile` of `_ZZ3sumPKfE4tile`, which is `sum(float const*)::tile` in C++.
pub(crate) fn plain_name(name: &str) -> String {
    let whole = demangled(name, &DemangleOptions::new());
    let last = whole.as_ref().and_then(|whole| whole.rsplit("::").next());
    // What a scope of the text declares has the scope's number before its name.
    let of_scope = name.strip_prefix('#').and_then(|scope| scope.split_once('.')).map(|(_, name)| name);
    last.or(of_scope).unwrap_or(name).to_owned()
}

fn demangled(name: &str, options: &DemangleOptions) -> Option<String> {
    // `s` alone is the mangled name of a type.
    let symbol =
        Some(name).filter(|name| name.starts_with("_Z")).and_then(|name| cpp_demangle::Symbol::new(name).ok())?;
    let mut whole = Bounded(String::new());
    symbol.structured_demangle(&mut whole, options).ok().map(|()| whole.0)
}

/// The name of a function as its source has it, without namespaces, parameters and template arguments.
pub(crate) fn function_name(mangled: &str) -> String {
    let whole = demangled(mangled, &DemangleOptions::new().no_params().no_return_type());
    let Some(whole) = whole else { return mangled.to_owned() };
    let mut depth = 0;
    let is_outside = |letter: &char| {
        depth += i32::from(*letter == '<');
        let is_outside = depth == 0;
        depth -= i32::from(*letter == '>');
        is_outside
    };
    let without_arguments: String = whole.chars().filter(is_outside).collect();
    without_arguments.rsplit("::").next().unwrap_or_default().to_owned()
}

/// A text of limited length: what a name stands for may be longer than the name by any factor.
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > 4096 {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}
