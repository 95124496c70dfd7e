//! Threads that take tickets: what an addition to a counter returns says what its thread does next.
//!
//! A stream compaction writes to the place that it gets, a scatter to the next one of its bucket, and threads that
//! share work take the next piece. Who gets which ticket is left open, and a search goes through all of these orders.
//! Here each thread is given each of the tickets that it may get, and each time runs on to its next addition or to its
//! end: a *segment*. A thread that takes several is, at an addition, where it was at an earlier one, or in one of a few
//! other states.
//!
//! **That stands for all executions.** Let the threads stand at additions, each behind all other accesses of its
//! counter, by the clocks ([`counted_runs`](super::counted_runs) argues that they come there in each execution). Take
//! an execution in the order in which the search builds it, up to some event, and let all before it be events of
//! segments. What an addition returns is the sum of those before it. A ticket is what lies between that and what the
//! addition leaves, and no two tickets have anything in common, since read-modify-writes are atomic. If the event reads
//! a cell, its source is a write before all of this, or a write of a segment before the event. The latter is of the
//! event's own segment: two segments that touch one cell, and whose tickets have nothing in common, only read it, or
//! make updates that commute and whose results nobody is given, or are of one unit that reads there only what the same
//! segment has left. So the thread reads what it reads when the segment is run alone, and the event is one of it. What
//! a ticket synchronizes is passed over, since more order only takes races away. Two events of one segment are in
//! program order, or behind one another by the barriers of their block; two events of different segments of one thread
//! are in program order; and where the threads of a block take tickets together, whatever comes before a barrier of one
//! segment comes before the next one. So nothing races.
//!
//! A thread may keep something from one ticket to the next, such as a sum. A few such states are explored exactly; in
//! further ones what differs is taken for unknown (widening). A thread that branches on an unknown value, or uses it as
//! an address, ends the proof; a cell to which it is written may have any value.
//!
//! **How many tickets there are.** Where a thread that gets place `n` or a later one of a counter takes no other one of
//! it, there are at most as many additions from place `n` on as there are threads. Where no thread comes back to where
//! it was, there are at most as many as all have on their longest ways. Where some add more than others, as blocks that
//! reserve places for all that they keep, each adds once.
//!
//! What is left in a cell is known if one ticket alone writes there, whoever has it, and if it is given in every
//! execution; or if updates that commute are made by tickets that are. All other cells that are written differ between
//! executions ([`Cell::varies`](super::cells::Cell)): whoever reads one ends the proof.

mod counter;
mod graph;
mod segment;
mod uses;

use rustc_hash::FxHashMap;
use wattle_memory::ThreadId;

use super::super::process::Address;
use super::clock::Epoch;
use super::varying::{Left, Values};
use super::{Adding, CountedState, Runs, Status};
use counter::{Counter, Places};
use graph::{Graph, Stand};
pub use segment::looks_at_result;
use segment::{At, Member, Unit, adders};
use uses::{Ticket, Uses};

/// The maximum number of segments.
const MOST_SEGMENTS: usize = 1 << 20;

/// The maximum number of states in which a unit stands at an addition.
const MOST_STANDS: usize = 16;

/// The number of states of a unit that are explored exactly, at additions and at rest, before those at one place are
/// widened into one.
const MOST_EXACT: usize = 4;

/// All units with the tickets that they may get, and what they do with them.
struct Tickets<'w> {
    units: Vec<Unit>,
    graphs: Vec<Graph<'w>>,
    counters: Vec<Counter>,
    numbers: FxHashMap<Address, usize>,
    segments: usize,
    uses: Uses,
}

impl<'w> Runs<'_, 'w> {
    /// Lets threads go on that stand at additions, with whatever these return.
    pub fn take_tickets(&mut self, state: &mut CountedState<'w>, adding: &[(ThreadId, Adding)]) -> Option<()> {
        if self.add_unseen(state, adding)? {
            return Some(());
        }
        let together = self.units(state, adding, true);
        let apart = self.units(state, adding, false);
        let events = state.events;
        let mut found = None;
        for units in [together, apart].into_iter().flatten() {
            let executed = self.executed.clone();
            found = found.or_else(|| self.tickets(state, units));
            if found.is_none() {
                self.executed = executed;
            }
        }
        let (tickets, places) = found?;
        // One segment of each ticket is there in an execution.
        let made = state.events - events;
        state.events = events + made / tickets.units.len() as u64;
        let most = places.iter().map(|places| places.most).max();
        self.tickets = self.tickets.max(most.unwrap_or(0));
        tickets.leave(state, &places)
    }

    /// Adds for the threads that do not look at results, at counters where none does; whether there are any.
    fn add_unseen(&mut self, state: &mut CountedState<'w>, adding: &[(ThreadId, Adding)]) -> Option<bool> {
        let looks = |address: Address| {
            let mut here = adding.iter().filter(|(_, what)| what.address == address);
            here.any(|&(thread, _)| looks_at_result(&state.runners[thread].process))
        };
        let unseen: Vec<_> = adding.iter().filter(|(_, what)| !looks(what.address)).copied().collect();
        for &(thread, Adding { address, addition, release, .. }) in &unseen {
            state.add(thread, address, addition, release)?;
            state.runners[thread].leave_open();
            state.runners[thread].status = Status::Ready;
        }
        Some(!unseen.is_empty())
    }

    /// The units of the threads at additions: each thread, or each block of which one thread is there. `None` where no
    /// block is such a one, and for threads that can be several.
    fn units(&self, state: &CountedState<'w>, adding: &[(ThreadId, Adding)], together: bool) -> Option<Vec<Unit>> {
        let is_one = |block: usize| adding.iter().filter(|(thread, _)| self.block_of[*thread] == block).count() == 1;
        let is_together = |block: usize| together && self.blocks[block].len() > 1 && is_one(block);
        if together && !adding.iter().any(|&(thread, _)| is_together(self.block_of[thread])) {
            return None;
        }
        let units = adding.iter().map(|&(thread, _)| {
            let block = self.block_of[thread];
            let members = if is_together(block) { self.blocks[block].clone() } else { vec![thread] };
            let clocks: Vec<_> = members.iter().map(|&member| state.runners[member].clock.clone()).collect();
            let mut joined = clocks[0].clone();
            clocks.iter().for_each(|clock| joined.join(clock));
            let is_plain = members.iter().all(|&member| state.runners[member].others.is_empty());
            is_plain.then_some(Unit { block, members, clocks, joined })
        });
        units.collect()
    }

    /// Gives each unit each ticket that it may get; `None` where that does not stand for all executions.
    fn tickets(&mut self, state: &mut CountedState<'w>, units: Vec<Unit>) -> Option<(Tickets<'w>, Vec<Places>)> {
        let before = self.executed.clone();
        let graphs = units.iter().map(|_| Graph { stands: Vec::new(), ends: Vec::new(), merges_rounds: false });
        let graphs = graphs.collect();
        let (counters, numbers, uses) = (Vec::new(), FxHashMap::default(), Uses::default());
        let mut tickets = Tickets { units, graphs, counters, numbers, segments: 0, uses };
        for unit in 0..tickets.units.len() {
            let members = tickets.units[unit].members.iter().map(|&thread| state.member(thread));
            let members = members.collect::<Option<Vec<_>>>()?;
            tickets.stand(state, unit, members)?;
        }
        tickets.sum_up()?;
        let places = loop {
            self.give_all(state, &mut tickets)?;
            let places: Vec<Result<Places, usize>> =
                (0..tickets.counters.len()).map(|counter| tickets.places(counter)).collect();
            let mut is_done = true;
            for (counter, places) in tickets.counters.iter_mut().zip(&places) {
                if let &Err(more) = places {
                    counter.extend(more)?;
                    is_done = false;
                }
            }
            if is_done {
                break places.into_iter().filter_map(Result::ok).collect::<Vec<_>>();
            }
        };
        let has_more =
            |(counter, places): (&Counter, &Places)| counter.steps().is_some_and(|given| given > places.most);
        if tickets.counters.iter().zip(&places).any(has_more) {
            // Nobody gets the last ones.
            tickets.uses = Uses::default();
            self.executed.clone_from(&before);
            let stands = tickets.all_stands();
            for &(unit, stand) in &stands {
                let counter = tickets.graphs[unit].stands[stand].counter;
                let given = tickets.counters[counter].steps().map(|_| places[counter].most);
                for place in 0..given.unwrap_or_else(|| tickets.counters[counter].places(unit)) {
                    self.give(state, &mut tickets, unit, stand, place)?;
                }
            }
            // One that came up now would get no tickets.
            if tickets.all_stands().len() > stands.len() {
                return None;
            }
        }
        let Tickets { uses, units, numbers, .. } = &tickets;
        let is_right = uses.are_apart(units, |address| numbers.contains_key(&address));
        is_right.then_some((tickets, places))
    }

    /// Gives each unit in each of its states the tickets that it has not been given.
    fn give_all(&mut self, state: &mut CountedState<'w>, tickets: &mut Tickets<'w>) -> Option<()> {
        loop {
            let mut moved = false;
            for (unit, number) in tickets.all_stands() {
                let Stand { counter, given, .. } = tickets.graphs[unit].stands[number];
                for place in given..tickets.counters[counter].places(unit) {
                    let next = self.give(state, tickets, unit, number, place)?;
                    let stand = &mut tickets.graphs[unit].stands[number];
                    match stand.next.iter_mut().find(|(known, _)| *known == next) {
                        Some((_, [_, last])) => *last = place,
                        None => stand.next.push((next, [place; 2])),
                    }
                    stand.given = place + 1;
                    moved = true;
                }
            }
            if !moved {
                return Some(());
            }
        }
    }

    /// Gives a unit a ticket in one of its states; returns the number of the state in which it takes the next one.
    fn give(
        &mut self,
        state: &mut CountedState<'w>,
        tickets: &mut Tickets<'w>,
        unit: usize,
        number: usize,
        place: usize,
    ) -> Option<Option<usize>> {
        tickets.segments += 1;
        if tickets.segments > MOST_SEGMENTS {
            return None;
        }
        let stand = &tickets.graphs[unit].stands[number];
        let from = tickets.counters[stand.counter].value(unit, place)?;
        let ticket = Ticket { counter: stand.counter, from, to: stand.addition.applied(from) };
        let segment = self.segment(state, &tickets.units[unit], &stand.members, stand.adder, from)?;
        let next = match segment.takes_a_ticket() {
            Some(_) => Some(tickets.stand(state, unit, segment.members.clone())?),
            None => {
                tickets.rest(unit, &segment.members)?;
                None
            }
        };
        tickets.uses.add(unit, ticket, segment);
        Some(next)
    }
}

impl<'w> Tickets<'w> {
    fn all_stands(&self) -> Vec<(usize, usize)> {
        let of = |(unit, graph): (usize, &Graph<'w>)| (0..graph.stands.len()).map(move |stand| (unit, stand));
        self.graphs.iter().enumerate().flat_map(of).collect()
    }

    /// The number of the state of a unit in which one of its threads is at an addition.
    fn stand(&mut self, state: &mut CountedState<'w>, unit: usize, members: Vec<Member<'w>>) -> Option<usize> {
        let of = &self.units[unit];
        let [(adder, Adding { address, addition, .. })] = adders(&members).collect::<Vec<_>>()[..] else { return None };
        let in_block = of.members.len() > 1;
        let Graph { stands, merges_rounds, .. } = &mut self.graphs[unit];
        let is_as = |stand: &Stand<'w>| {
            stand.adder == adder && stand.members.iter().zip(&members).all(|(known, new)| new.is_as(known, in_block))
        };
        if let Some(known) = stands.iter().position(is_as) {
            let is_equal = |(known, new): (&Member<'w>, &Member<'w>)| known.process == new.process;
            *merges_rounds |= !stands[known].members.iter().zip(&members).all(is_equal);
            return Some(known);
        }
        let mut members = members;
        if stands.len() >= MOST_EXACT {
            let widen = |of: &[Member<'w>], others: &[Member<'w>]| -> Option<Vec<Member<'w>>> {
                let mut wide = of.to_vec();
                wide.iter_mut().zip(others).all(|(member, other)| member.widen(other, in_block)).then_some(wide)
            };
            let both = |stand: &Stand<'w>| Some([widen(&stand.members, &members)?, widen(&members, &stand.members)?]);
            let of_adder = stands.iter().enumerate().rev().filter(|(_, stand)| stand.adder == adder);
            let mut wide = of_adder.filter_map(|(number, stand)| Some((number, both(stand)?)));
            if let Some((number, [of_known, of_new])) = wide.next() {
                let is_equal = |(one, other): (&Member<'w>, &Member<'w>)| one.process == other.process;
                *merges_rounds |= !of_known.iter().zip(&of_new).all(is_equal);
                let is_as = |(known, new): (&Member<'w>, &Member<'w>)| new.is_as(known, in_block);
                if stands[number].members.iter().zip(&of_new).all(is_as) {
                    return Some(number);
                }
                members = of_new;
            }
        }
        if stands.len() == MOST_STANDS {
            return None;
        }
        let thread = of.members[adder];
        let counter = match self.numbers.get(&address) {
            Some(&counter) => counter,
            None => {
                let value = state.before_tickets(thread, address)?;
                let counter = Counter::new(address, addition, value);
                self.numbers.insert(address, self.counters.len());
                self.counters.push(counter);
                self.counters.len() - 1
            }
        };
        let known = &mut self.counters[counter];
        state.before_tickets(thread, address)?;
        if !known.has(addition, self.segments > 0) {
            return None;
        }
        if !known.adders.contains(&thread) {
            known.adders.push(thread);
        }
        self.graphs[unit].stands.push(Stand { members, adder, counter, addition, next: Vec::new(), given: 0 });
        Some(self.graphs[unit].stands.len() - 1)
    }

    /// Looks at the additions of all units, before any is given a ticket.
    fn sum_up(&mut self) -> Option<()> {
        for number in 0..self.counters.len() {
            let of = |(unit, graph): (usize, &Graph<'w>)| {
                let stand = graph.stands.first().filter(|stand| stand.counter == number)?;
                Some((unit, stand.addition))
            };
            let additions: Vec<_> = self.graphs.iter().enumerate().filter_map(of).collect();
            self.counters[number].sum_up(&additions)?;
        }
        Some(())
    }

    /// Takes the state in which the threads of a unit rest: all have ended, or the one that is alone is at a barrier of
    /// its block.
    fn rest(&mut self, unit: usize, members: &[Member<'w>]) -> Option<()> {
        let ends = &mut self.graphs[unit].ends;
        if members.len() > 1 && !members.iter().all(|member| member.at == At::End) {
            return None;
        }
        let is_known = |end: &Vec<Member<'w>>| {
            end.iter()
                .zip(members)
                .all(|(known, new)| known.at == new.at && (new.at == At::End || known.process == new.process))
        };
        if ends.iter().any(is_known) {
            return Some(());
        }
        if ends.len() < MOST_EXACT {
            ends.push(members.to_vec());
            return Some(());
        }
        // One thread alone is at a barrier.
        let wide = ends.last_mut()?;
        wide.iter_mut().zip(members).all(|(wide, other)| wide.widen(other, false)).then_some(())
    }

    /// The tickets of a counter that there can be, or how many more have to be given before that is known.
    fn places(&self, counter: usize) -> Result<Places, usize> {
        let longest: Option<Vec<[usize; 2]>> = self.graphs.iter().map(|graph| graph.additions(counter)).collect();
        let Some(given) = self.counters[counter].steps() else {
            let once = |ways: &[usize; 2]| *ways == [1; 2] || *ways == [0; 2];
            // Who comes round to add again gets what its own additions leave too, and that is in none of the sums.
            let exactly = longest.is_some_and(|ways| ways.iter().all(once));
            return if exactly { Ok(Places { most: self.counters[counter].adders.len(), exactly }) } else { Err(1) };
        };
        if let Some(ways) = longest {
            let most: usize = ways.iter().map(|[_, most]| most).sum();
            let exactly = ways.iter().all(|[least, most]| least == most);
            return if most <= given { Ok(Places { most, exactly }) } else { Err(most - given) };
        }
        let comes_back = self.graphs.iter().filter_map(|graph| graph.last_before_another(counter)).max();
        let first_last = comes_back.map_or(0, |place| place + 1);
        let adding = self.graphs.iter().filter(|graph| graph.adds_to(counter));
        let most = first_last + adding.clone().count();
        if most > given {
            // As long as threads come back with the last tickets, nothing is known.
            return Err(if first_last == given { given.max(1) } else { most - given });
        }
        let exactly = self.counters.len() == 1 && adding.into_iter().all(|graph| graph.goes_on_until(first_last));
        Ok(Places { most, exactly })
    }

    /// Leaves what all of them do.
    fn leave(self, state: &mut CountedState<'w>, places: &[Places]) -> Option<()> {
        for (counter, places) in self.counters.iter().zip(places) {
            let adders = state.now(&counter.adders);
            let value = counter.after(places.most);
            let left = match places.exactly {
                true => Left::One(value, false),
                false => Left::Several(Values::default()),
            };
            state.cells.get_mut(&counter.address)?.leave(left, &adders, &[])?;
        }
        let is_given =
            |ticket: Ticket| places[ticket.counter].exactly && self.counters[ticket.counter].steps().is_some();
        self.uses.leave(state, is_given)?;
        for (unit, graph) in self.units.iter().zip(self.graphs) {
            // In which rounds its threads come to a barrier says with whom they meet there.
            let rests = |end: &Vec<Member<'w>>| end.iter().all(|member| member.at == At::End);
            if graph.merges_rounds && !graph.ends.iter().all(rests) {
                return None;
            }
            let mut ends = graph.ends.into_iter();
            let first = ends.next()?;
            for (&thread, member) in unit.members.iter().zip(first) {
                let runner = &mut state.runners[thread];
                (runner.process, runner.heads) = (member.process, Vec::new());
                (runner.status, runner.arrival) = match member.at {
                    At::End => (Status::Done, None),
                    At::Barrier(barrier) => (Status::AtBarrier, Some(barrier)),
                    At::Ready | At::Addition(_) => return None,
                };
            }
            // Threads that do not rest in one way alone are at a barrier in each.
            for end in ends {
                for (&thread, member) in unit.members.iter().zip(end) {
                    let runner = &mut state.runners[thread];
                    let arrival = if let At::Barrier(barrier) = member.at { Some(barrier) } else { None };
                    if arrival != runner.arrival {
                        return None;
                    }
                    runner.others.push(member.process);
                }
            }
        }
        Some(())
    }
}

impl<'w> CountedState<'w> {
    /// What each of these threads does now.
    fn now(&self, threads: &[ThreadId]) -> Vec<Epoch> {
        threads.iter().map(|&thread| self.runners[thread].clock.now(thread)).collect()
    }

    /// A thread as a member of a unit; `None` where it is not at rest.
    fn member(&self, thread: ThreadId) -> Option<Member<'w>> {
        let runner = &self.runners[thread];
        let at = match runner.status {
            Status::Adds(adding) => At::Addition(adding),
            Status::AtBarrier => At::Barrier(runner.arrival.clone()?),
            Status::Done => At::End,
            Status::NotStarted | Status::Ready | Status::Waits(_) => return None,
        };
        let mut process = runner.process.clone();
        process.forget_dead();
        Some(Member { process, at, turns: Vec::new() })
    }
}
