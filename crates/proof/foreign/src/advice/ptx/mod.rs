//! Changes of a PTX module: of its text, in the words of CUDA C++.

mod candidates;
mod increment;
mod text;

pub(super) use text::Edit;

use super::change::{Candidates, Change};
use super::{Language, Launches};
use crate::violation::Step;
use crate::world::{Source, World};
use text::Access;

/// A launch of a PTX module's kernel.
pub(super) struct Ptx<'w> {
    pub world: &'w World,
    pub source: &'w Source,
}

impl Language for Ptx<'_> {
    fn candidates(&self) -> Candidates {
        candidates::of(self.world)
    }

    fn ordered(&self, access: &Step) -> Option<Change> {
        candidates::ordered(self.world, access)
    }
}

impl Launches for Ptx<'_> {
    fn launches(&self, changes: &[&Change]) -> Option<Vec<World>> {
        let source = Source { file: self.source.file.clone(), text: changed(&self.source.text, changes) };
        let launch = self.world.parts[0].whole_launch();
        let mut world = World::new(source, Some(&self.world.kernel().name), launch).ok()?;
        world.volatile_is_plain = self.world.volatile_is_plain;
        Some(vec![world])
    }
}

/// The text with these changes.
pub(super) fn changed(text: &str, changes: &[&Change]) -> String {
    text::apply(text, changes.iter().flat_map(|change| change.lines()))
}

/// Makes accesses that were given an order relaxed; returns what that is in words, and `None` where other edits are.
pub(super) fn relax(lines: &mut [(u32, Edit)]) -> Option<String> {
    let mut words = None;
    for (_, edit) in lines {
        let Edit::Instead(text, Some(access)) = edit else { return None };
        let order = access.order();
        words = Some(Access::words(*access, "relaxed"));
        *text = text.replacen(&format!(".{order}."), ".relaxed.", 1);
    }
    words
}

/// Whether some line is changed in the same way by both.
pub(super) fn clash(own: &[(u32, Edit)], others: &[(u32, Edit)]) -> bool {
    let is_like = |one: &Edit, other: &Edit| std::mem::discriminant(one) == std::mem::discriminant(other);
    own.iter().any(|(line, edit)| others.iter().any(|(also, with)| line == also && is_like(edit, with)))
}
