//! The workgroups and subgroups of a program, and the barriers at which their threads meet. A barrier of SPIR-V is one
//! instruction that all threads of its scope come to, so the columns of a group are cut at their barriers, and the pieces
//! stand side by side in a switch.

use std::ops::Range;

use wattle_litmus::{Instruction, Observed, Operand, Program};
use wattle_memory::{Label, Level};

use super::Beyond;
use super::column::{Column, scope};
use super::flow::Segment;
use super::words::Words;

/// The threads of a program in their workgroups and subgroups, by their numbers.
pub struct Groups(Vec<Vec<Vec<usize>>>);

/// A barrier in a column: the number of its instance, what else it says, and where it stands.
struct Met {
    instance: u64,
    label: Label,
    at: usize,
}

impl Groups {
    pub fn of(program: &Program) -> Result<Groups, Beyond> {
        let mut threads: Vec<usize> = (0..program.threads.len()).collect();
        threads.sort_by_key(|&thread| program.threads[thread].placement);
        let mut groups: Vec<Vec<Vec<usize>>> = Vec::new();
        let mut last = None;
        for thread in threads {
            let placement = program.threads[thread].placement;
            let shares = |level| last.is_some_and(|last: wattle_memory::Placement| last.shares(&placement, level));
            match groups.last_mut() {
                Some(group) if shares(Level::Subgroup) => group.last_mut().into_iter().for_each(|it| it.push(thread)),
                Some(group) if shares(Level::Block) => group.push(vec![thread]),
                _ => groups.push(vec![vec![thread]]),
            }
            last = Some(placement);
        }
        Ok(Groups(groups))
    }

    /// The threads of a subgroup, the subgroups of a workgroup, and the workgroups: as many as the largest needs.
    pub fn config(&self) -> [u32; 3] {
        let lanes = self.0.iter().flatten().map(Vec::len).max().unwrap_or(1);
        let subgroups = self.0.iter().map(Vec::len).max().unwrap_or(1);
        [lanes as u32, subgroups as u32, self.0.len() as u32]
    }

    /// Writes the body of the entry point.
    pub fn write(&self, words: &mut Words, columns: &[Column], observed: &[Observed]) -> Result<(), Beyond> {
        let group = words.result("OpLoad %v3uint %group".to_owned());
        let group = words.result(format!("OpCompositeExtract %uint {group} 0"));
        let subgroup = words.result("OpLoad %uint %subgroup".to_owned());
        let lane = words.result("OpLoad %uint %lane".to_owned());
        choose(words, &group, &self.0, |words, subgroups| {
            let threads: Vec<usize> = subgroups.concat();
            let whole: Vec<Range<usize>> = columns.iter().map(|column| 0..column.thread().code.len()).collect();
            for (ranges, barrier) in &phases(columns, &threads, &whole, |level| level != Level::Subgroup)? {
                choose(words, &subgroup, subgroups, |words, threads| {
                    for (ranges, barrier) in &phases(columns, threads, ranges, |level| level == Level::Subgroup)? {
                        choose_to(words, &lane, threads, |words, &thread, behind| {
                            Segment::of(&columns[thread], ranges[thread].clone())?.write(words, behind)
                        })?;
                        write(words, columns, *barrier, 3);
                    }
                    Ok(())
                })?;
                write(words, columns, *barrier, 2);
            }
            // What is observed at the ends comes behind all else.
            choose(words, &subgroup, subgroups, |words, threads| {
                choose(words, &lane, threads, |words, &thread| {
                    for (place, &seen) in observed.iter().enumerate() {
                        if let Observed::Register { thread: of, register } = seen
                            && of == thread
                        {
                            let value = words.result(format!("OpLoad %int {}", columns[thread].register(register)));
                            let (zero, place) = (words.int(0), words.int(place as i32));
                            let to = words.result(format!("OpAccessChain %StorageBufferint %results {zero} {place}"));
                            words.line(format!("OpStore {to} {value}"));
                        }
                    }
                    Ok(())
                })
            })
        })?;
        words.line("OpReturn".to_owned());
        Ok(())
    }
}

/// Writes a switch over the items, of which each goes on at the label that it is given, and begins its merge block.
fn choose_to<T>(
    words: &mut Words,
    selector: &str,
    items: &[T],
    mut write: impl FnMut(&mut Words, &T, u32) -> Result<(), Beyond>,
) -> Result<(), Beyond> {
    let merge = words.label();
    let cases: Vec<u32> = items.iter().map(|_| words.label()).collect();
    let listed: String = cases.iter().enumerate().map(|(number, label)| format!(" {number} %l{label}")).collect();
    words.line(format!("OpSelectionMerge %l{merge} None"));
    words.line(format!("OpSwitch {selector} %l{merge}{listed}"));
    for (item, label) in items.iter().zip(cases) {
        words.begin(label);
        write(words, item, merge)?;
    }
    words.begin(merge);
    Ok(())
}

/// The same, where each case goes on behind the switch by itself.
fn choose<T>(
    words: &mut Words,
    selector: &str,
    items: &[T],
    mut write: impl FnMut(&mut Words, &T) -> Result<(), Beyond>,
) -> Result<(), Beyond> {
    choose_to(words, selector, items, |words, item, behind| {
        write(words, item)?;
        words.line(format!("OpBranch %l{behind}"));
        Ok(())
    })
}

/// Cuts the ranges of a group's columns at the barriers of one kind, which have to be the same in each of them: the pieces of
/// all columns, each with the barrier behind it.
#[expect(clippy::type_complexity, reason = "the pieces of each column, and the column and the place of the barrier")]
fn phases(
    columns: &[Column],
    threads: &[usize],
    ranges: &[Range<usize>],
    is_wanted: fn(Level) -> bool,
) -> Result<Vec<(Vec<Range<usize>>, Option<(usize, usize)>)>, Beyond> {
    let mut all: Vec<(usize, Vec<Met>)> = Vec::new();
    for &thread in threads {
        let mut met: Vec<Met> = Vec::new();
        for at in ranges[thread].clone() {
            let Instruction::Barrier { instance, resource, quorum, waits, label } = columns[thread].thread().code[at]
            else {
                continue;
            };
            if !is_wanted(label.level) {
                continue;
            }
            let is_own = resource.is_none_or(|resource| resource == Operand::Constant(instance));
            if quorum.is_some() || !is_own || !waits {
                return Err("a barrier of some threads, or with a number that is computed");
            }
            if met.iter().any(|other| other.instance == instance) {
                return Err("one instance of a barrier twice");
            }
            met.push(Met { instance, label, at });
        }
        all.push((thread, met));
    }
    let Some((first, model)) = all.first() else { return Ok(Vec::new()) };
    for (_, met) in &all {
        if met.len() != model.len() || met.iter().zip(model).any(|(met, model)| met.instance != model.instance) {
            return Err("a barrier that not all threads of its scope come to");
        }
        if met.iter().zip(model).any(|(met, model)| met.label != model.label) {
            return Err("a barrier whose threads order different things");
        }
    }
    let mut phases = Vec::new();
    for number in 0..=model.len() {
        let mut pieces: Vec<Range<usize>> = ranges.iter().map(|range| range.start..range.start).collect();
        for (thread, met) in &all {
            let from = if number == 0 { ranges[*thread].start } else { met[number - 1].at + 1 };
            let to = met.get(number).map_or(ranges[*thread].end, |met| met.at);
            pieces[*thread] = from..to;
        }
        phases.push((pieces, model.get(number).map(|met| (*first, met.at))));
    }
    Ok(phases)
}

/// Writes a barrier, by one of the columns that have it and its place there.
fn write(words: &mut Words, columns: &[Column], barrier: Option<(usize, usize)>, execution: u32) {
    let Some((thread, at)) = barrier else { return };
    let Instruction::Barrier { label, .. } = columns[thread].thread().code[at] else { return };
    let (execution, memory) = (words.uint(execution), scope(words, label.level));
    let semantics = columns[thread].semantics(words, Some(&label), Some(&label));
    words.line(format!("OpControlBarrier {execution} {memory} {semantics}"));
}
