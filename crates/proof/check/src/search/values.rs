//! The values that the program's writes may give a place.
//!
//! Each thread is run by itself: a read returns any value that some thread's write gives its place, or the place's
//! value before all threads. The sets grow until nothing new is found. The result holds in every execution, and is a
//! superset of what any one of them needs.

use std::collections::{HashMap, HashSet};

use super::process::{Action, Address, Change, Written};
use super::{Setup, Thread};

/// The maximum number of actions before the analysis gives up.
const MOST_ACTIONS: u32 = 50_000;

/// The maximum number of values of one place that are kept.
const MOST_VALUES: usize = 24;

/// The possible values of each place that some thread reads or writes.
#[derive(Debug)]
pub(super) struct Values {
    places: HashMap<Address, Place>,
    /// Whether all values were found.
    complete: bool,
}

impl Values {
    /// All values of a place; `None` where they are too many, or not known.
    pub fn all(&self, address: Address) -> Option<&[u64]> {
        self.places.get(&address).filter(|place| self.complete && !place.open).map(|place| &place.values[..])
    }

    /// The values of a place that were found.
    pub fn some(&self, address: Address) -> &[u64] {
        self.places.get(&address).map_or(&[], |place| &place.values)
    }

    /// Finds the values of all places.
    pub fn find(setup: &Setup<'_>) -> Values {
        let mut finder =
            Finder { setup, places: HashMap::new(), nodes: Vec::new(), seen: HashSet::new(), left: MOST_ACTIONS };
        let ran = setup.threads.iter().all(|spawn| finder.run(spawn.process.clone()).is_some());
        let complete = ran && finder.all_nodes().is_some();
        Values { places: finder.places, complete }
    }
}

/// The values found for a place.
#[derive(Debug)]
struct Place {
    values: Vec<u64>,
    /// Whether it can have any value.
    open: bool,
}

/// A thread that waits for the answer to a read.
struct Node<'w> {
    process: Thread<'w>,
    address: Address,
    change: Option<Change>,
    /// How many of the place's values it has been answered with.
    given: usize,
    /// Whether it has been answered with an unknown value.
    opened: bool,
}

struct Finder<'a, 'w> {
    setup: &'a Setup<'w>,
    places: HashMap<Address, Place>,
    nodes: Vec<Node<'w>>,
    seen: HashSet<Thread<'w>>,
    left: u32,
}

impl<'w> Finder<'_, 'w> {
    fn place(&mut self, address: Address) -> &mut Place {
        let memory = self.setup.memory;
        self.places.entry(address).or_insert_with(|| Place { values: vec![memory.initial(address).value], open: false })
    }

    fn writes(&mut self, address: Address, value: Option<u64>) {
        let place = self.place(address);
        match value {
            Some(value) if place.values.contains(&value) => {}
            Some(value) if place.values.len() < MOST_VALUES => place.values.push(value),
            Some(_) | None => place.open = true,
        }
    }

    /// Answers every read with every value of its place; `None` where that takes too long.
    fn all_nodes(&mut self) -> Option<()> {
        loop {
            let mut moved = false;
            let mut number = 0;
            while number < self.nodes.len() {
                let address = self.nodes[number].address;
                let place = self.place(address);
                let (open, values) = (place.open, place.values.clone());
                let node = &mut self.nodes[number];
                let answers: Vec<Option<u64>> = if open {
                    if std::mem::replace(&mut node.opened, true) { Vec::new() } else { vec![None] }
                } else {
                    values[node.given..].iter().copied().map(Some).collect()
                };
                node.given = values.len();
                let (process, change) = (node.process.clone(), node.change);
                for answer in answers {
                    moved = true;
                    if let Some(change) = change {
                        match change.written(answer) {
                            Written::Value(value) => self.writes(address, Some(value)),
                            Written::Unknown => self.writes(address, None),
                            Written::Nothing => {}
                        }
                    }
                    let mut process = process.clone();
                    process.answer(answer);
                    self.run(process)?;
                }
                number += 1;
            }
            if !moved {
                return Some(());
            }
        }
    }

    /// Runs a thread to its next read; `None` where that takes too long, or an address is not known.
    fn run(&mut self, process: Thread<'w>) -> Option<()> {
        let mut open = vec![process];
        while let Some(mut process) = open.pop() {
            loop {
                self.left = self.left.checked_sub(1)?;
                match process.advance() {
                    Action::Read { target, .. } => {
                        self.node(process, target?.address, None);
                        break;
                    }
                    Action::Update { target, change, .. } => {
                        self.node(process, target?.address, Some(change));
                        break;
                    }
                    Action::Write { target, value, .. } => self.writes(target?.address, value),
                    Action::LoopHead { .. } | Action::BackEdge { .. } => {
                        if !self.seen.insert(process.clone()) {
                            break;
                        }
                    }
                    Action::NeedsValue => {
                        if self.seen.insert(process.clone()) {
                            open.extend(process.ways()?);
                        }
                        break;
                    }
                    // Its result is made of other lanes' values.
                    Action::Exchange { .. } => process.answer(None),
                    Action::Fence { .. } | Action::Barrier { .. } | Action::Fault { .. } => {}
                    Action::Halt | Action::Done => break,
                }
            }
        }
        Some(())
    }

    fn node(&mut self, process: Thread<'w>, address: Address, change: Option<Change>) {
        if self.seen.insert(process.clone()) {
            self.place(address);
            self.nodes.push(Node { process, address, change, given: 0, opened: false });
        }
    }
}
