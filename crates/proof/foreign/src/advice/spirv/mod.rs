//! Changes of a SPIR-V module, in the words of the language that it was compiled from.

mod candidates;
pub(super) mod edits;
mod words;

use std::collections::HashMap;

use wattle_modules::spirv::{Edit, Setting, Spirv};

use super::change::{Candidates, Change, Edits};
use super::{Language, Launches};
use crate::spirv::launch;
use crate::violation::Step;
use crate::world::{Origin, World};
use words::Words;

/// A launch of a SPIR-V module's entry point.
pub(super) struct Module<'w> {
    world: &'w World,
    origin: &'w Origin,
    words: Words,
    /// For each step of the kernel, the number of the module's instruction.
    instructions: HashMap<u32, usize>,
}

impl<'w> Module<'w> {
    pub fn of(world: &'w World, origin: &'w Origin) -> Module<'w> {
        let lines = (0..world.kernel().steps.len()).map(|step| world.line(step));
        let at = |line| Some((line, origin.module.at_line(line)?));
        Module { world, origin, words: Words::of(&origin.module), instructions: lines.filter_map(at).collect() }
    }

    fn module(&self) -> &Spirv {
        &self.origin.module
    }

    /// The module's instruction that a step is a part of.
    fn instruction(&self, step: usize) -> Option<usize> {
        self.instructions.get(&self.world.line(step)).copied()
    }

    /// A change at a step.
    fn change(&self, step: usize, text: String, edits: Vec<(usize, Edit)>) -> Change {
        let edits = Edits::Instructions(edits);
        let (at, instruction) = (self.world.place_of(step), self.world.text(step));
        Change { at, text, instruction, kernel: self.world.kernel().name.clone(), module: 0, edits }
    }
}

impl Language for Module<'_> {
    fn candidates(&self) -> Candidates {
        self.all()
    }

    fn ordered(&self, access: &Step) -> Option<Change> {
        let is_it =
            |&step: &usize| self.world.text(step) == access.instruction && self.world.place_of(step) == access.at;
        (0..self.world.kernel().steps.len()).filter(is_it).find_map(|step| self.atomic(step))
    }
}

impl Launches for Module<'_> {
    fn launches(&self, changes: &[&Change]) -> Option<Vec<World>> {
        let Origin { module, file, entry, setting, sizes } = self.origin;
        let changed = changed(module, changes)?;
        // The size that has shown the violation comes first.
        let others = sizes.iter().copied().map(Some).filter(|size| *size != setting.subgroup);
        let of = |subgroup| {
            let setting = Setting { subgroup, ..setting.clone() };
            launch(file, &changed, entry.as_deref(), &setting).ok()
        };
        [setting.subgroup].into_iter().chain(others).map(of).collect()
    }
}

/// The module with these changes; `None` where it is refused.
pub(super) fn changed(module: &Spirv, changes: &[&Change]) -> Option<Spirv> {
    let edits: Vec<_> = changes.iter().flat_map(|change| change.instructions()).cloned().collect();
    module.edited(&edits).ok()
}
