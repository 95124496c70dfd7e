//! Barriers of a number of threads, whose arrivals are counted by whole warps (PTX ISA 8.8, 9.7.13.1 "bar"): a warp has
//! arrived once all of its threads have that have not ended, and counts for all of its lanes.

use wattle_modules::meaning::warp::LANES;

const WARP: usize = LANES as usize;

/// The arrivals at a barrier of a number of threads, since it opened last.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The warps that must arrive.
    wanted: u32,
    /// How often each thread has arrived.
    came: Vec<u32>,
    /// How often each warp has arrived.
    warps: Vec<u32>,
}

impl Counted {
    /// A barrier of a block of `threads` that waits for `wanted` of them, a multiple of a warp.
    pub fn new(threads: usize, wanted: u32) -> Counted {
        let warps = vec![0; threads.div_ceil(WARP)];
        Counted { wanted: wanted / LANES, came: vec![0; threads], warps }
    }

    /// Records the arrival of a thread. `ended` says which threads have ended.
    pub fn arrive(&mut self, at: usize, ended: impl Fn(usize) -> bool) {
        self.came[at] += 1;
        self.count(at / WARP, ended);
    }

    /// Counts how often the warp of a thread has arrived, which is ending.
    pub fn end(&mut self, at: usize, ended: impl Fn(usize) -> bool) {
        self.count(at / WARP, ended);
    }

    fn count(&mut self, warp: usize, ended: impl Fn(usize) -> bool) {
        let threads = warp * WARP..((warp + 1) * WARP).min(self.came.len());
        let left = threads.clone().filter(|&at| !ended(at)).map(|at| self.came[at]).min();
        self.warps[warp] = left.unwrap_or_else(|| threads.map(|at| self.came[at]).max().unwrap_or(0));
    }

    /// Whether enough warps have arrived; those then have not arrived for the next time. Returns which threads go on.
    pub fn open(&mut self) -> Option<Vec<bool>> {
        let mut missing = self.wanted;
        if missing == 0 || self.warps.iter().sum::<u32>() < missing {
            return None;
        }
        for (warp, came) in self.warps.iter_mut().zip(self.came.chunks_mut(WARP)) {
            let taken = (*came.iter().max().unwrap_or(&0)).min(*warp).min(missing);
            missing -= taken;
            *warp -= taken;
            came.iter_mut().for_each(|own| *own -= taken.min(*own));
        }
        Some(self.came.iter().map(|&own| own == 0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Counted;

    #[test]
    fn warps_count_as_a_whole() {
        let mut barrier = Counted::new(70, 64);
        (1..32).for_each(|at| barrier.arrive(at, |_| false));
        assert!(barrier.open().is_none());
        // The other lane of the first warp ends, and the third warp has six lanes.
        barrier.end(0, |at| at == 0);
        (64..70).for_each(|at| barrier.arrive(at, |at| at == 0));
        let open = barrier.open().expect("two warps are there");
        assert!(open[1] && open[69]);
        assert!(barrier.open().is_none(), "it waits for the next ones");
    }

    #[test]
    fn who_comes_too_many_waits() {
        let mut barrier = Counted::new(96, 64);
        (0..96).for_each(|at| barrier.arrive(at, |_| false));
        let open = barrier.open().expect("three warps are there");
        assert!(open[0] && open[63] && !open[64]);
        assert!(barrier.open().is_none());
        (0..32).for_each(|at| barrier.arrive(at, |_| false));
        assert!(barrier.open().expect("the third warp has another one").iter().all(|open| *open));
    }
}
