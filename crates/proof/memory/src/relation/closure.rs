//! Transitive closures, and whether there is a cycle.
//!
//! In a relation without a cycle each event's row is made once, of the rows of those that it is related to: an event
//! that has been reached need not be looked at again. Most graphs are such, and what a program orders is much of it
//! threads' own order.

use super::{BITS, Relation, Set, ends_early, events};

impl Relation {
    /// The composition `self ; next` with a transitive relation: what an event leads to need not be looked at again
    /// where it has been reached.
    pub fn then_transitive(&self, next: &Relation) -> Relation {
        if self.width == 1 {
            return self.then(next);
        }
        let mut relation = Relation::new(self.events);
        for a in events(self.events) {
            next.reach(self.row(a), relation.row_mut(a));
        }
        relation
    }

    /// Adds what the events of the words `from` are related to, where this relation holds all that follows from the
    /// pairs of what it relates them to, and `reached` has none of it or all.
    fn reach(&self, from: &[u64], reached: &mut [u64]) {
        for (word, &all) in from.iter().enumerate() {
            let mut left = all & !reached[word];
            while left != 0 {
                let event = word * BITS + left.trailing_zeros() as usize;
                reached.iter_mut().zip(self.row(event)).for_each(|(to, from)| *to |= from);
                left &= (left - 1) & !reached[word];
            }
        }
    }

    /// The transitive closure `self+`.
    pub fn plus(&self) -> Relation {
        let mut relation = self.clone();
        if self.width == 1 {
            for middle in 0..self.events {
                let row = relation.bits[middle];
                if row != 0 {
                    relation.bits.iter_mut().for_each(|from| *from |= row & ((*from >> middle) & 1).wrapping_neg());
                }
            }
            return relation;
        }
        if let Some(order) = self.ends_first() {
            let mut behind = vec![0; self.width];
            for (number, event) in order.into_iter().enumerate() {
                if ends_early(self.events, number) {
                    break;
                }
                behind.fill(0);
                relation.reach(self.row(event), &mut behind);
                relation.row_mut(event).iter_mut().zip(&behind).for_each(|(to, from)| *to |= from);
            }
            return relation;
        }
        let mut row = vec![0; self.width];
        for middle in events(self.events) {
            row.copy_from_slice(relation.row(middle));
            if row.iter().all(|&word| word == 0) {
                continue;
            }
            let (word, bit) = (middle / BITS, middle % BITS);
            for from in relation.bits.chunks_exact_mut(self.width) {
                if from[word] >> bit & 1 != 0 {
                    from.iter_mut().zip(&row).for_each(|(to, from)| *to |= from);
                }
            }
        }
        relation
    }

    /// All events, each behind those that it is related to; `None` where there is a cycle.
    fn ends_first(&self) -> Option<Vec<usize>> {
        let (mut order, mut seen, mut open) = (Vec::new(), Set::new(self.events), Set::new(self.events));
        // The events that are being looked at, each with the word of its row that is next.
        let mut path: Vec<(usize, usize)> = Vec::new();
        for start in 0..self.events {
            if seen.contains(start) {
                continue;
            }
            path.push((start, 0));
            while let Some(&mut (event, ref mut word)) = path.last_mut() {
                seen.insert(event);
                open.insert(event);
                let row = self.row(event);
                let unseen = |word: &usize| row[*word] & !seen.words[*word];
                match (*word..self.width).find(|word| unseen(word) != 0) {
                    Some(next) => {
                        *word = next;
                        let next = next * BITS + unseen(&next).trailing_zeros() as usize;
                        path.push((next, 0));
                    }
                    None if row.iter().zip(&open.words).any(|(to, open)| to & open != 0) => return None,
                    None => {
                        open.remove(event);
                        order.push(event);
                        path.pop();
                    }
                }
            }
        }
        Some(order)
    }

    /// Relates `a` to `b` in a transitive relation, and everything that transitivity then relates.
    pub fn insert_closed(&mut self, a: usize, b: usize) {
        if self.has(a, b) {
            return;
        }
        let mut behind = self.after_set(b);
        behind.insert(b);
        for from in events(self.events) {
            if from == a || self.has(from, a) {
                self.insert_all(from, &behind);
            }
        }
    }

    /// Whether no event is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        (0..self.events).all(|event| !self.has(event, event))
    }

    /// Whether the relation has no cycle.
    pub fn is_acyclic(&self) -> bool {
        // Events whose successors are all removed are removed too; the rest lies on or before a cycle.
        if self.width == 1 {
            let mut left = u64::MAX >> (BITS - self.events);
            while left != 0 {
                let before = left;
                for event in (0..self.events).rev() {
                    let ends = left >> event & 1 != 0 && self.bits[event] & left == 0;
                    left &= !(u64::from(ends) << event);
                }
                if left == before {
                    return false;
                }
            }
            return true;
        }
        let mut left = Set::of(self.events, |_| true);
        loop {
            let before = left.len();
            if ends_early(self.events, 0) {
                return true;
            }
            for event in events(self.events) {
                if left.contains(event)
                    && self.row(event).iter().enumerate().all(|(at, word)| word & left.word(at) == 0)
                {
                    left.remove(event);
                }
            }
            match left.len() {
                0 => return true,
                len if len == before => return false,
                _ => {}
            }
        }
    }
}
