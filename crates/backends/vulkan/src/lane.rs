//! The queues of a Vulkan device, each with a timeline that says how far it has come.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ash::vk;
use wattle_core::{Result, lock};

use crate::context::Context;

/// The first clock number of this crate's devices, chosen to differ from those of other crates.
const FIRST_CLOCK: u64 = u64::from_be_bytes(*b"vulkan\0\0");

/// How long a wait polls before it sleeps, on hardware; a software device needs the core for itself.
const SPIN: Duration = Duration::from_micros(20);

/// A Vulkan queue. Several Wattle queues may share it; submissions begin, and are reported as done, in the order of
/// their submission.
pub(crate) struct Lane {
    state: Mutex<LaneState>,
    /// The timeline of finished submissions. Submission number n raises it to n.
    pub(crate) timeline: vk::Semaphore,
    /// The value of the timeline when this process last read it.
    completed: AtomicU64,
    /// The number of its clock: Vulkan promises that timestamps of one queue can be compared.
    pub(crate) clock: u64,
}

struct LaneState {
    queue: vk::Queue,
    submitted: u64,
    /// For each lane, the number of submissions that this lane's work is ordered after.
    after: Vec<u64>,
}

impl Lane {
    pub(crate) fn new(queue: vk::Queue, timeline: vk::Semaphore, lanes: usize) -> Lane {
        static NEXT_CLOCK: AtomicU64 = AtomicU64::new(FIRST_CLOCK);
        Lane {
            state: Mutex::new(LaneState { queue, submitted: 0, after: vec![0; lanes] }),
            timeline,
            completed: AtomicU64::new(0),
            clock: NEXT_CLOCK.fetch_add(1, Ordering::Relaxed),
        }
    }
}

impl Context {
    /// Submits commands to a lane; its timeline reaches the returned number when they are done.
    ///
    /// Work that the host has seen done on other lanes comes before: the host's waits alone would make its writes
    /// available, but not visible to this lane's reads, so the submission waits for it too, which costs no time.
    pub(crate) fn submit(&self, lane: usize, commands: vk::CommandBuffer) -> Result<u64> {
        self.alive()?;
        let this = &self.lanes[lane];
        let device = self.device();
        let mut state = lock(&this.state);
        let mut waits = [(vk::Semaphore::null(), 0); MOST_LANES];
        let mut count = 0;
        for (number, other) in self.lanes.iter().enumerate() {
            let completed = other.completed.load(Ordering::Acquire);
            if number != lane && completed > state.after[number] {
                waits[count] = (other.timeline, completed);
                state.after[number] = completed;
                count += 1;
            }
        }
        let semaphores = waits.map(|(semaphore, _)| semaphore);
        let values = waits.map(|(_, value)| value);
        let stages = [vk::PipelineStageFlags::ALL_COMMANDS; MOST_LANES];
        let number = state.submitted + 1;
        let (signalled, signal_values, commands) = ([this.timeline], [number], [commands]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&values[..count])
            .signal_semaphore_values(&signal_values);
        let submit = vk::SubmitInfo::default()
            .wait_semaphores(&semaphores[..count])
            .wait_dst_stage_mask(&stages[..count])
            .command_buffers(&commands)
            .signal_semaphores(&signalled)
            .push_next(&mut timeline);
        // SAFETY: the commands were recorded for this family and are in no other submission; the queue is locked.
        let submitted = unsafe { device.queue_submit(state.queue, &[submit], vk::Fence::null()) };
        self.check("submitting work", submitted)?;
        state.submitted = number;
        Ok(number)
    }

    /// Whether nothing is in flight as far as can be seen without waiting for other threads, or the device is gone.
    pub(crate) fn is_idle(&self) -> bool {
        self.alive().is_err()
            || self.lanes.iter().enumerate().all(|(number, lane)| {
                let submitted = lane.state.try_lock().map(|state| state.submitted);
                submitted.is_ok_and(|submitted| self.completed(number).map_or(true, |done| done >= submitted))
            })
    }

    /// The number of submissions to a lane.
    #[cfg(test)]
    pub(crate) fn submissions(&self, lane: usize) -> u64 {
        lock(&self.lanes[lane].state).submitted
    }

    /// The number of submissions that a lane has finished.
    pub(crate) fn completed(&self, lane: usize) -> Result<u64> {
        self.alive()?;
        let lane = &self.lanes[lane];
        // SAFETY: the semaphore is this device's, and a timeline.
        let value = unsafe { self.device().get_semaphore_counter_value(lane.timeline) };
        let value = self.check("looking how far work is", value)?;
        lane.completed.fetch_max(value, Ordering::AcqRel);
        Ok(value)
    }

    /// Waits until a lane has finished submission `number`, or `patience` is over; returns whether it has.
    pub(crate) fn wait(&self, lane: usize, number: u64, patience: Duration) -> Result<bool> {
        if self.completed(lane)? >= number {
            return Ok(true);
        }
        if !self.is_software() {
            let began = Instant::now();
            while began.elapsed() < SPIN.min(patience) {
                std::hint::spin_loop();
                if self.completed(lane)? >= number {
                    return Ok(true);
                }
            }
        }
        let (semaphores, values) = ([self.lanes[lane].timeline], [number]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        let patience = patience.as_nanos().try_into().unwrap_or(u64::MAX);
        // SAFETY: as above.
        match unsafe { self.device().wait_semaphores(&info, patience) } {
            Ok(()) => self.lanes[lane].completed.fetch_max(number, Ordering::AcqRel),
            Err(vk::Result::TIMEOUT) => return Ok(false),
            Err(error) => return self.check("waiting for work", Err(error)),
        };
        Ok(true)
    }
}

/// The maximum number of lanes of a device: two for launches, and one for copies.
pub(crate) const MOST_LANES: usize = 3;
