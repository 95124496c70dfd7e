//! The values that the program's writes may give a place.
//!
//! Each thread is run by itself: a read returns any value that some thread's write gives its place, or the place's
//! value before all threads; a shuffle returns any value that some lane brings to one of that statement. The sets grow
//! until nothing new is found. The result holds in every execution, and is a superset of what any one of them needs.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxHashMap;
use wattle_ir::warp::WarpKind;

use super::process::{Action, Address, Change, Written};
use super::{Dependencies, Setup, Thread};

/// The maximum number of actions before the analysis gives up.
const MOST_ACTIONS: u32 = 50_000;

/// The maximum number of values of one place that are kept.
const MOST_VALUES: usize = 24;

/// The possible values of each place that some thread reads or writes.
#[derive(Debug)]
pub(super) struct Values {
    places: HashMap<Source, PlaceValues>,
    /// Whether all values were found.
    complete: bool,
    /// Whether all values were found, but for those that nothing but themselves brings about.
    whole: bool,
}

/// The origin of a value that a thread receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Source {
    Memory(Address),
    /// The lanes of a warp, at this statement.
    Lanes(u32),
}

impl Values {
    /// All values of a place; `None` where they are too many, or not known.
    pub fn all(&self, address: Address) -> Option<&[u64]> {
        let place = self.places.get(&Source::Memory(address))?;
        (self.complete && !place.open).then_some(&place.values[..])
    }

    /// Whether all values of all places were found that come of the program's constants, up to [`MOST_VALUES`] of a
    /// place.
    pub fn are_whole(&self) -> bool {
        self.whole
    }

    /// The values of a place that were found.
    pub fn some(&self, address: Address) -> &[u64] {
        self.places.get(&Source::Memory(address)).map_or(&[], |place| &place.values)
    }

    /// Finds the values of all places. Those that are computed from what is read have the values that are tried besides
    /// ([`Setup::tried_values`]).
    pub fn find(setup: &Setup<'_>) -> Values {
        let found = Values::find_with(setup, HashSet::new());
        let computed: HashSet<Source> =
            found.places.iter().filter(|(_, place)| place.computed).map(|(source, _)| *source).collect();
        if setup.tried_values.is_empty() || computed.is_empty() {
            return found;
        }
        Values::find_with(setup, computed)
    }

    fn find_with(setup: &Setup<'_>, tried: HashSet<Source>) -> Values {
        let (places, nodes, seen) = (HashMap::new(), Vec::new(), Seen::default());
        let mut finder = Finder { setup, tried, left_out: false, places, nodes, seen, left: MOST_ACTIONS };
        let ran = setup.threads.iter().all(|spawn| finder.run(spawn.process.clone()).is_some());
        let complete = ran && finder.all_nodes().is_some();
        Values { complete: complete && !finder.left_out, whole: complete, places: finder.places }
    }
}

/// The values found for a place.
#[derive(Debug)]
struct PlaceValues {
    values: Vec<u64>,
    /// Whether the place can have any value.
    open: bool,
    /// Whether some store of a value that is computed from what is read is to it.
    computed: bool,
}

/// A thread that waits for the answer to a read.
struct Node<'w> {
    process: Thread<'w>,
    from: Source,
    change: Option<Change>,
    /// How many of the place's values the thread has been answered with.
    given: usize,
    /// Whether the thread has been answered with an unknown value.
    opened: bool,
}

/// What a thread waits for: a value from there, which an update changes so.
type Awaited = Option<(Source, Option<Change>)>;

/// The states in which threads have been, with what each waits for, by the digests of the threads, each of which is
/// computed once.
#[derive(Default)]
struct Seen<'w>(FxHashMap<u64, Vec<(Thread<'w>, Awaited)>>);

impl<'w> Seen<'w> {
    /// Adds a state; `false` if it is there.
    fn insert(&mut self, thread: &Thread<'w>, awaited: Awaited) -> bool {
        let alike = self.0.entry(thread.digest()).or_default();
        let is_new = !alike.iter().any(|(known, waits_for)| *waits_for == awaited && known == thread);
        if is_new {
            alike.push((thread.clone(), awaited));
        }
        is_new
    }
}

struct Finder<'a, 'w> {
    setup: &'a Setup<'w>,
    /// The places for which values are tried that nothing writes.
    tried: HashSet<Source>,
    /// Whether a store was left out, since its place is not known.
    left_out: bool,
    places: HashMap<Source, PlaceValues>,
    nodes: Vec<Node<'w>>,
    seen: Seen<'w>,
    left: u32,
}

impl<'w> Finder<'_, 'w> {
    fn place(&mut self, from: Source) -> &mut PlaceValues {
        let setup = self.setup;
        let tried: &[u64] = if self.tried.contains(&from) { &setup.tried_values } else { &[] };
        self.places.entry(from).or_insert_with(|| {
            let mut values = match from {
                Source::Memory(address) => vec![setup.memory.initial(address).value],
                Source::Lanes(_) => Vec::new(),
            };
            let others: Vec<u64> = tried.iter().filter(|value| !values.contains(value)).copied().collect();
            values.extend(others);
            PlaceValues { values, open: false, computed: false }
        })
    }

    fn writes(&mut self, to: Source, value: Option<u64>) {
        let place = self.place(to);
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
                let from = self.nodes[number].from;
                let place = self.place(from);
                let (open, values) = (place.open, place.values.clone());
                let node = &mut self.nodes[number];
                // Without dependencies a branch may be taken for a value that is there only since it is taken.
                let anyway = self.setup.dependencies == Dependencies::Ignored;
                let mut answers: Vec<Option<u64>> = match open && !anyway {
                    true => Vec::new(),
                    false => values[node.given..].iter().copied().map(Some).collect(),
                };
                if (open || anyway) && !std::mem::replace(&mut node.opened, true) {
                    answers.push(None);
                }
                node.given = values.len();
                number += 1;
                if answers.is_empty() {
                    continue;
                }
                let (process, change) = (node.process.clone(), node.change);
                for answer in answers {
                    moved = true;
                    if let Some(change) = change {
                        match change.written(answer) {
                            Written::Value(value) => self.writes(from, Some(value)),
                            Written::Unknown => self.writes(from, None),
                            Written::Nothing => {}
                        }
                    }
                    let mut process = process.clone();
                    process.answer(answer);
                    self.run(process)?;
                }
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
                    // The place of what is done with a value that nobody gives is not known.
                    Action::Read { target: None, .. } | Action::Update { target: None, .. }
                        if self.setup.dependencies == Dependencies::Ignored =>
                    {
                        self.left_out = true;
                        break;
                    }
                    Action::Read { target, .. } => {
                        self.node(process, Source::Memory(target?.address), None);
                        break;
                    }
                    Action::Update { target, change, .. } => {
                        self.node(process, Source::Memory(target?.address), Some(change));
                        break;
                    }
                    // What it leaves is any value.
                    Action::Write { label, .. } if label.unwritten => return None,
                    // With values that are tried its place is known too, and others of its places may be missing.
                    Action::Write { target: None, .. } if self.setup.dependencies == Dependencies::Ignored => {
                        self.left_out = true;
                    }
                    Action::Write { target, value, .. } => {
                        let to = Source::Memory(target?.address);
                        self.place(to).computed |= value.is_none();
                        self.writes(to, value);
                    }
                    Action::LoopHead { .. } | Action::BackEdge { .. } => {
                        process.forget_dead();
                        if !self.seen.insert(&process, None) {
                            break;
                        }
                    }
                    Action::NeedsValue => {
                        if self.seen.insert(&process, None) {
                            open.extend(process.ways()?);
                        }
                        break;
                    }
                    Action::Exchange { exchange, source, .. } => match exchange.op.kind() {
                        WarpKind::Shuffle => {
                            self.writes(Source::Lanes(source), exchange.value);
                            self.node(process, Source::Lanes(source), None);
                            break;
                        }
                        WarpKind::Vote => {
                            [0, 1].into_iter().for_each(|vote| self.writes(Source::Lanes(source), Some(vote)));
                            self.node(process, Source::Lanes(source), None);
                            break;
                        }
                        // Its result is made of several lanes' values.
                        WarpKind::Ballot | WarpKind::Reduce | WarpKind::InclusiveScan | WarpKind::ExclusiveScan => {
                            process.answer(None)
                        }
                    },
                    Action::Fence { .. } | Action::Barrier { .. } | Action::Fault { .. } => {}
                    Action::Halt | Action::Done => break,
                }
            }
        }
        Some(())
    }

    fn node(&mut self, mut process: Thread<'w>, from: Source, change: Option<Change>) {
        // The place and the operand may be among what it forgets.
        process.forget_dead();
        if self.seen.insert(&process, Some((from, change))) {
            self.place(from);
            self.nodes.push(Node { process, from, change, given: 0, opened: false });
        }
    }
}
