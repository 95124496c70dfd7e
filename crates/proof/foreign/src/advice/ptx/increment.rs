//! `count++` as compilers write it, a load, a sum and a store of one word, where others do the same: `atomicAdd`.

use super::text::{self, LineEdit};
use crate::advice::change::{Change, Edits};
use crate::world::World;

/// The types of sums, and those of the atomic ones (PTX ISA 8.8, 9.7.13.5 "atom").
const TYPES: [(&str, &str); 6] =
    [("s32", "u32"), ("u32", "u32"), ("s64", "u64"), ("u64", "u64"), ("f32", "f32"), ("f64", "f64")];

/// Each such sum of the kernel as an atomic one.
pub(super) fn all(world: &World) -> Vec<Change> {
    let Some(source) = world.source() else { return Vec::new() };
    let lines: Vec<&str> = source.text.lines().collect();
    (0..world.kernel().steps.len()).filter_map(|load| atomic(world, &lines, load)).collect()
}

/// An instruction's words and operands.
struct Instruction<'t> {
    guard: &'t str,
    words: Vec<&'t str>,
    operands: Vec<&'t str>,
}

fn instruction<'t>(world: &World, lines: &[&'t str], at: usize) -> Option<Instruction<'t>> {
    let (guard, words, rest) = text::parts(lines.get((world.line(at) as usize).checked_sub(1)?)?)?;
    let operands = rest.trim_end_matches(';').split(',').map(str::trim).collect();
    Some(Instruction { guard, words, operands })
}

/// The sum that begins with the load at `load`, if one does: in one statement of the source, so that nothing else is
/// meant by it.
fn atomic(world: &World, lines: &[&str], load: usize) -> Option<Change> {
    let read = instruction(world, lines, load)?;
    let [loaded, address] = read.operands[..] else { return None };
    if read.words[0] != "ld" || read.words.contains(&"volatile") {
        return None;
    }
    let (place, mut sum) = (world.place_of(load), None);
    for at in (load + 1..world.kernel().steps.len()).take_while(|&at| world.place_of(at) == place) {
        let next = instruction(world, lines, at)?;
        match (next.words[0], &next.operands[..], sum) {
            ("add", &[result, first, second], None) if first == loaded || second == loaded => {
                let added = if first == loaded { second } else { first };
                let ty = TYPES.iter().find(|(ty, _)| next.words.last() == Some(ty))?.1;
                // It is needed earlier now.
                sum = (!is_written(world, added, load..at)).then_some((result, added, ty));
                sum?;
            }
            ("st", &[to, value], Some((result, added, ty))) if to == address && value == result => {
                let spaces: Vec<&str> =
                    ["global", "shared"].into_iter().filter(|space| read.words.contains(space)).collect();
                let words = [&["atom"][..], &spaces, &["add", ty]].concat().join(".");
                let instead = format!("{}{words} {loaded}, {address}, {added};", read.guard);
                let of = if added.starts_with('%') { "…" } else { added };
                return (read.guard.trim() == next.guard.trim()).then(|| Change {
                    at: place.clone(),
                    text: format!("do it by atomicAdd(…, {of})"),
                    instruction: world.text(at),
                    kernel: world.kernel().name.clone(),
                    module: 0,
                    edits: Edits::Lines(vec![
                        (world.line(load), LineEdit::Instead(instead, None)),
                        (world.line(at), LineEdit::Instead(String::new(), None)),
                    ]),
                });
            }
            _ => {}
        }
    }
    None
}

/// Whether one of these instructions writes the register of that name.
fn is_written(world: &World, name: &str, steps: std::ops::Range<usize>) -> bool {
    let kernel = world.kernel();
    let is_it = |register: u32| kernel.registers.get(register as usize).is_some_and(|known| known == name);
    steps.into_iter().any(|at| {
        let mut found = false;
        kernel.steps[at].op.outline(|_| {}, |register| found |= is_it(register));
        found
    })
}
