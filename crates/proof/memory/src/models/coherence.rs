//! The order of writes that the sources of reads imply.

use crate::event::EventId;
use crate::{Graph, Kind, Relation, stop};

/// The pairs of `co` that follow from those of `first` by two rules: a read does not read a write that was overwritten
/// by a write which comes before the read; and nothing that `ordered` relates to a read-modify-write comes between its
/// halves.
///
/// `causality` is the order that reads may not contradict, `ordered` the pairs of different writes that some order must
/// relate, `overwrites` says of two writes in that order whether a read of the first comes before the second.
pub(super) fn saturate(
    graph: &Graph,
    first: Relation,
    causality: &Relation,
    ordered: impl Fn(EventId, EventId) -> bool,
    overwrites: impl Fn(EventId, EventId) -> bool,
) -> Relation {
    let mut writes = vec![Vec::new(); graph.locations()];
    let mut reads = Vec::new();
    for (id, event) in graph.events().iter().enumerate() {
        match (event.label.kind, event.location) {
            (Kind::Write, Some(location)) => writes[location].push(id),
            (Kind::Read, Some(location)) => {
                if let Some(source) = graph.source(id) {
                    reads.push((id, source, location));
                }
            }
            _ => {}
        }
    }
    let mut co = first;
    for &(read, source, location) in &reads {
        for &other in &writes[location] {
            if causality.has(other, read) && ordered(other, source) {
                co.insert(other, source);
            }
        }
    }
    let mut co = co.plus();
    loop {
        let mut new = Vec::new();
        for &(read, source, location) in &reads {
            let Some(update) = graph.other_half(read) else { continue };
            // The second half may not write: the compare-exchange fails, or is not decided.
            if graph.event(update).location.is_none() {
                continue;
            }
            if !co.has(source, update) && ordered(source, update) {
                new.push((source, update));
            }
            for &other in &writes[location] {
                if !ordered(other, update) {
                    continue;
                }
                if co.has(source, other) && overwrites(source, other) && !co.has(update, other) {
                    new.push((update, other));
                }
                if co.has(other, update) && !co.has(other, source) && ordered(other, source) {
                    new.push((other, source));
                }
            }
        }
        // Where time is up nothing more is inserted, and the same pairs would be found for ever.
        if new.is_empty() || stop::requested_before() {
            return co;
        }
        new.into_iter().for_each(|(a, b)| co.insert_closed(a, b));
        if !co.is_irreflexive() {
            return co;
        }
    }
}

/// From-reads: from a read to the writes that coherence puts after its source.
pub(super) fn from_reads(graph: &Graph, co: &Relation) -> Relation {
    let mut fr = Relation::new(graph.len());
    for read in 0..graph.len() {
        if let Some(source) = graph.source(read) {
            fr.insert_row(read, co, source);
        }
    }
    fr
}
