//! Texts of modules with one random change.

mod ptx;

pub use ptx::{Texts, launch_of, source_of};

/// A random number below `most` (splitmix64).
fn below(state: &mut u64, most: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) % most.max(1) as u64) as usize
}

/// The text with a line or a word taken out, doubled, exchanged, turned round or replaced by an odd one, or cut off.
pub fn damaged(text: &str, state: &mut u64, odd: &[&str]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (one, other) = (below(state, lines.len()), below(state, lines.len()));
    match below(state, 8) {
        0 => drop(lines.remove(one)),
        1 => lines.insert(other, lines[one].clone()),
        2 => lines.swap(one, other),
        3 => lines.truncate(one),
        kind => {
            let words: Vec<&str> = lines[other].split(' ').collect();
            let word = words.get(below(state, words.len())).copied().unwrap_or_default().to_owned();
            let mut here: Vec<String> = lines[one].split(' ').map(str::to_owned).collect();
            let at = below(state, here.len());
            match kind {
                4 => here[at] = word,
                5 => here[at] = here[at].chars().rev().collect(),
                6 => here[at] = odd[below(state, odd.len())].to_owned(),
                _ => here.insert(at, odd[below(state, odd.len())].to_owned()),
            }
            lines[one] = here.join(" ");
        }
    }
    lines.join("\n")
}
