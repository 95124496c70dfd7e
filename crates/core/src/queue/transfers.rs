//! The methods of a queue that copy and fill buffers.

use wattle_ir::{Access, Element, Site};

use super::Queue;
use super::lent::{HostSource, HostTarget};
use super::operation::{Operation, RawPart, Transfer, TransferSource};
use crate::buffer::{Destination, Part, Source};
use crate::clock::{User, Wanted};
use crate::error::{Error, ErrorKind, Result, system};
use crate::memory::{self, bytes, bytes_mut};

impl Queue {
    /// Copies between buffers, also of two devices: `queue.copy(&mut to, &from)`.
    ///
    /// # Errors
    /// The extents differ; neither buffer is of the queue's device; a use that conflicts.
    #[doc(alias("cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpy3D"))]
    #[track_caller]
    pub fn copy<T: Element, const D: usize>(&self, to: impl Destination<T, D>, from: impl Source<T, D>) -> Result<()> {
        let site = Site::caller();
        let (to, from) = (to.part(), from.part());
        if to.region.extent() != from.region.extent() {
            return Err(copy_shape(site, from.extent_text(), to.extent_text()));
        }
        self.usable()?;
        if from.raw.device != self.device && to.raw.device != self.device {
            return Err(self.wrong_device(&to.raw, User { what: "a copy", parameter: None, site }));
        }
        if elements(&from) == 0 {
            return Ok(());
        }
        let uses = [(&from, Access::Read, "a copy (source)"), (&to, Access::PerItem, "a copy (destination)")];
        let uses = uses.map(|(part, access, what)| wanted(part, access, User { what, parameter: None, site }));
        let turn = self.turn_for(&uses, false)?;
        let [from, to] = [from, to].map(|part| RawPart::new(part.raw, part.region));
        self.submit(turn, Operation::Copy(Transfer::Write { from: TransferSource::Buffer(from), to }))
    }

    /// Copies values to a buffer, in row-major order.
    ///
    /// # Errors
    /// The lengths differ; the buffer is of another device; a use that conflicts.
    #[track_caller]
    pub fn copy_from_host<T: Element, const D: usize>(&self, to: impl Destination<T, D>, values: &[T]) -> Result<()> {
        let site = Site::caller();
        let part = to.part();
        if elements(&part) != values.len() {
            return Err(copy_shape(site, values.len().to_string(), part.extent_text()));
        }
        let user = User { what: "a copy from the host", parameter: None, site };
        if !self.blocking {
            return self.write_part(part, TransferSource::Bytes(memory::copied(bytes(values))?), user);
        }
        // A blocking queue is done with the copy when this returns.
        HostSource::of(bytes(values), |source| self.write_part(part, TransferSource::Host(source), user))
    }

    /// Sets every element to `value`.
    ///
    /// # Errors
    /// The buffer is of another device; a use that conflicts.
    #[doc(alias = "cudaMemset")]
    #[track_caller]
    pub fn fill<T: Element, const D: usize>(&self, to: impl Destination<T, D>, value: T) -> Result<()> {
        let user = User { what: "a fill", parameter: None, site: Site::caller() };
        self.write_part(to.part(), TransferSource::Fill(bytes(&[value]).to_vec()), user)
    }

    fn write_part<T: Element, const D: usize>(&self, part: Part<T, D>, from: TransferSource, user: User) -> Result<()> {
        self.usable()?;
        self.owns(&part.raw, user)?;
        if elements(&part) == 0 {
            return Ok(());
        }
        let turn = self.turn_for(&[wanted(&part, Access::PerItem, user)], false)?;
        let to = RawPart::new(part.raw, part.region);
        self.submit(turn, Operation::Copy(Transfer::Write { from, to }))
    }

    /// Copies a buffer to the host, in row-major order, once the queue's work so far is done.
    ///
    /// # Errors
    /// The lengths differ; the buffer is of another device; a use that conflicts; those of the queue's work so far.
    #[track_caller]
    pub fn copy_to_host<T: Element, const D: usize>(&self, to: &mut [T], from: impl Source<T, D>) -> Result<()> {
        let site = Site::caller();
        let part = from.part();
        if elements(&part) != to.len() {
            return Err(copy_shape(site, part.extent_text(), to.len().to_string()));
        }
        let user = User { what: "a copy to the host", parameter: None, site };
        self.owns(&part.raw, user)?;
        if to.is_empty() {
            return self.wait();
        }
        let turn = self.turn_for(&[wanted(&part, Access::Read, user)], true)?;
        let from = RawPart::new(part.raw, part.region);
        // The copy is one of the queue's operations, so that it overlaps with none that another thread enqueues.
        // SAFETY: a copy to the host settles what it writes.
        let (waited, done) = HostTarget::of(unsafe { bytes_mut(to) }, |to| {
            self.submit_and_wait(turn, Some(Operation::Copy(Transfer::Read { from, to })))
        });
        waited?;
        if done {
            return Ok(());
        }
        let message = "an error stopped the queue before it, and another thread has taken that error";
        Err(system("a copy to the host was not done", message))
    }
}

fn wanted<T, const D: usize>(part: &Part<T, D>, access: Access, user: User) -> Wanted<'_> {
    Wanted { uses: &part.raw.uses, region: part.region, sharing: access.into(), user }
}

fn elements<T, const D: usize>(part: &Part<T, D>) -> usize {
    part.region.extent().iter().map(|&extent| extent as usize).product()
}

#[cold]
fn copy_shape(site: Site, source_extent: String, destination_extent: String) -> Error {
    ErrorKind::CopyShape { site, source_extent, destination_extent }.into()
}
