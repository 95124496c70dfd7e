//! The environment of a launch: where the instances' words lie, who runs when, and what goes on beside them.
//!
//! The parameters are those of MC Mutants (Levine et al., ASPLOS 2023) and of litmus7 (Alglave et al., TACAS 2011):
//! many instances in one launch, threads and places permuted, other threads that load the memory system, delays, and
//! threads that meet before they begin. A launch is determined by its environment and its seed.

use std::fmt;
use std::str::FromStr;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// The memory that a program's words are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Buffers.
    Device,
    /// Block shared memory, of programs with one block on devices with generated kernels.
    Block,
}

/// The parameters of launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Environment {
    /// The distance of neighbouring words, in words: 16 is a cache line of the host.
    pub stride: u32,
    /// Whether the words of one name lie together, instances side by side; otherwise those of one instance do.
    pub apart: bool,
    /// Whether threads, instances and places are permuted.
    pub shuffled: bool,
    /// The longest delay of a thread before its instance, in accesses of other memory.
    pub delay: u32,
    /// How often a thread looks for the others before it begins without them; in generated kernels, whose loops are
    /// short, at most 1024 times.
    pub patience: u32,
    /// The instances of a thread between two meetings, on the host; in generated kernels a thread has one.
    pub batch: u32,
    /// Blocks that only load the memory system, for each block of the test, in percent.
    pub stress: u32,
    /// The memory of the words.
    pub space: Space,
}

impl Environment {
    /// The environment that is tried first.
    pub const FIRST: Environment = Environment {
        stride: 16,
        apart: false,
        shuffled: true,
        delay: 4,
        patience: 1 << 17,
        batch: 1,
        stress: 0,
        space: Space::Device,
    };

    /// An environment at random. `can_share` says whether the words may be in block shared memory, and `can_stress`
    /// whether there is room for blocks beside the test's.
    pub fn random(random: &mut Random, can_share: bool, can_stress: bool) -> Environment {
        Environment {
            stride: *random.one_of(&[1, 2, 16, 17, 32, 64]),
            apart: random.below(2) == 1,
            shuffled: random.below(4) > 0,
            delay: *random.one_of(&[0, 0, 2, 4, 8, 32]),
            patience: *random.one_of(&[0, 1 << 8, 1 << 14, 1 << 17, 1 << 17]),
            batch: *random.one_of(&[1, 1, 4, 16, 64]),
            stress: if can_stress { *random.one_of(&[0, 0, 50, 100]) } else { 0 },
            space: if can_share && random.below(2) == 1 { Space::Block } else { Space::Device },
        }
    }
}

/// Formats the parameters as [`Environment::from_str`] reads them.
impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Environment { stride, apart, shuffled, delay, patience, batch, stress, space } = *self;
        write!(
            f,
            "stride={stride},apart={apart},shuffled={shuffled},delay={delay},patience={patience},batch={batch},"
        )?;
        let space = match space {
            Space::Device => "device",
            Space::Block => "block",
        };
        write!(f, "stress={stress},space={space}")
    }
}

/// The error for a text that is no environment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no part of an environment: write one as a report does, `{first}`", first = Environment::FIRST)]
pub struct NoEnvironment(pub String);

impl FromStr for Environment {
    type Err = NoEnvironment;

    fn from_str(text: &str) -> Result<Environment, NoEnvironment> {
        let mut environment = Environment::FIRST;
        for part in text.split(',') {
            let wrong = || NoEnvironment(part.to_owned());
            let (name, value) = part.split_once('=').ok_or_else(wrong)?;
            let number = |most: u32| value.parse::<u32>().ok().filter(|&number| number <= most).ok_or_else(wrong);
            let truth = || value.parse::<bool>().map_err(|_| wrong());
            match name {
                "stride" => environment.stride = number(256)?.max(1),
                "apart" => environment.apart = truth()?,
                "shuffled" => environment.shuffled = truth()?,
                "delay" => environment.delay = number(4096)?,
                "patience" => environment.patience = number(1 << 20)?,
                "batch" => environment.batch = number(1 << 12)?.max(1),
                "stress" => environment.stress = number(400)?,
                "space" if value == "device" => environment.space = Space::Device,
                "space" if value == "block" => environment.space = Space::Block,
                _ => return Err(wrong()),
            }
        }
        Ok(environment)
    }
}

/// A repeatable source of choices.
pub struct Random(Pcg64Mcg);

impl Random {
    /// The source of a seed.
    pub fn new(seed: u64) -> Random {
        Random(Pcg64Mcg::seed_from_u64(seed))
    }

    /// A source for one of several purposes of a seed.
    pub fn of(seed: u64, purpose: &str, number: u64) -> Random {
        // FNV-1a: the names are short, and the generator mixes what comes of it.
        let hash = purpose
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Random::new(seed ^ hash.rotate_left(17) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The next number of the sequence, any of 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.word() as u32) * u64::from(end)) >> 32) as u32
    }

    /// Draws one of `all`, which is not empty.
    pub fn one_of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len() as u32) as usize]
    }

    /// The numbers below `count` in some order; in their own one unless `shuffled`.
    pub fn order(&mut self, count: u32, shuffled: bool) -> Vec<u32> {
        let mut all: Vec<u32> = (0..count).collect();
        if shuffled {
            for at in (1..all.len()).rev() {
                all.swap(at, self.below(at as u32 + 1) as usize);
            }
        }
        all
    }
}

/// Draws the places of the words of all instances: for each instance and word its place, instances first; and the
/// number of places.
pub fn places(environment: &Environment, random: &mut Random, instances: u32, words: u32) -> (Vec<u32>, u32) {
    let Environment { stride, apart, shuffled, .. } = *environment;
    let mut places = vec![0; (instances * words) as usize];
    if apart {
        for word in 0..words {
            let order = random.order(instances, shuffled);
            for (instance, &at) in order.iter().enumerate() {
                places[instance * words as usize + word as usize] = (word * instances + at) * stride;
            }
        }
    } else {
        let order = random.order(instances, shuffled);
        for (instance, &at) in order.iter().enumerate() {
            let first = if shuffled { random.below(words) } else { 0 };
            for word in 0..words {
                places[instance * words as usize + word as usize] = (at * words + (word + first) % words) * stride;
            }
        }
    }
    (places, instances * words * stride)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_are_read_as_they_are_written() {
        let mut random = Random::new(7);
        for _ in 0..100 {
            let environment = Environment::random(&mut random, true, true);
            assert_eq!(environment.to_string().parse(), Ok(environment));
        }
        for wrong in ["", "stride", "stride=x", "stride=9999", "space=here", "speed=1", "apart=2"] {
            assert!(wrong.parse::<Environment>().unwrap_err().to_string().contains("stride=16"), "{wrong}");
        }
    }

    #[test]
    fn no_two_words_share_a_place() {
        let mut random = Random::new(3);
        for _ in 0..50 {
            let environment = Environment::random(&mut random, true, true);
            let (mut places, end) = places(&environment, &mut random, 100, 3);
            assert!(places.iter().all(|&place| place < end), "{environment}");
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), 300, "{environment}");
        }
    }
}
