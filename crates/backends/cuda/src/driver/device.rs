//! Devices and their primary contexts.

use std::cell::Cell;
use std::ffi::CStr;

use cudarc::driver::sys;

use super::{Attribute, Said, functions, said};

/// A device by the driver's number, which is valid as long as the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ordinal(sys::CUdevice);

/// How many devices the driver has.
pub(crate) fn count() -> Said<i32> {
    let mut count = 0;
    // SAFETY: the driver is loaded, and the place is there.
    said(unsafe { (functions::DEVICE_GET_COUNT.get())(&raw mut count) })?;
    Ok(count)
}

impl Ordinal {
    /// The device with this number, counted from 0.
    pub(crate) fn new(number: i32) -> Said<Ordinal> {
        let mut device = 0;
        // SAFETY: as in `count`.
        said(unsafe { (functions::DEVICE_GET.get())(&raw mut device, number) })?;
        Ok(Ordinal(device))
    }

    pub(crate) fn name(self) -> Said<String> {
        let mut name = [0; 256];
        // SAFETY: the device is one, and there is as much room as is said; the driver ends the name with a zero.
        said(unsafe { (functions::DEVICE_GET_NAME.get())(name.as_mut_ptr(), name.len() as i32 - 1, self.0) })?;
        let bytes = name.map(|byte| byte as u8);
        Ok(CStr::from_bytes_until_nul(&bytes).unwrap_or_default().to_string_lossy().into_owned())
    }

    pub(crate) fn attribute(self, attribute: Attribute) -> Said<i32> {
        let mut value = 0;
        // SAFETY: the device is one, and the place is there.
        said(unsafe { (functions::DEVICE_GET_ATTRIBUTE.get())(&raw mut value, attribute, self.0) })?;
        Ok(value)
    }

    /// The device's memory in bytes.
    pub(crate) fn memory(self) -> Said<u64> {
        let mut bytes = 0;
        // SAFETY: as above.
        said(unsafe { (functions::DEVICE_TOTAL_MEM.get())(&raw mut bytes, self.0) })?;
        Ok(bytes as u64)
    }

    /// Whether kernels and copies of this device can reach memory of another.
    pub(crate) fn reaches(self, other: Ordinal) -> bool {
        let mut can = 0;
        // SAFETY: both are devices, and the place is there.
        said(unsafe { (functions::DEVICE_CAN_ACCESS_PEER.get())(&raw mut can, self.0, other.0) }).is_ok() && can != 0
    }
}

thread_local! {
    /// The number of the context that this thread has made current last; 0 for none.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// The primary context of a device: the one that all parts of a program share. It is retained once, and kept as long as
/// the process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrimaryContext(sys::CUcontext);

// SAFETY: a context is an object of the driver, which all threads may use.
unsafe impl Send for PrimaryContext {}
// SAFETY: as above.
unsafe impl Sync for PrimaryContext {}

impl PrimaryContext {
    pub(crate) fn retain(device: Ordinal) -> Said<PrimaryContext> {
        let mut context = std::ptr::null_mut();
        // SAFETY: the device is one, and the place is there.
        said(unsafe { (functions::PRIMARY_CTX_RETAIN.get())(&raw mut context, device.0) })?;
        Ok(PrimaryContext(context))
    }

    /// Makes the context the calling thread's current one.
    pub(crate) fn set_current(self) -> Said {
        CURRENT.set(0);
        // SAFETY: the context is never released; if other code destroys it, the driver returns an error.
        said(unsafe { (functions::CTX_SET_CURRENT.get())(self.0) })?;
        CURRENT.set(self.number());
        Ok(())
    }

    /// Whether the context is the last that this crate made current on the calling thread. A context that other code
    /// makes current on the same thread is not seen.
    pub(crate) fn was_made_current(self) -> bool {
        CURRENT.get() == self.number()
    }

    /// Lets kernels and copies of the current context reach memory of this one.
    pub(crate) fn let_current_reach(self) -> Said {
        // SAFETY: as above.
        said(unsafe { (functions::CTX_ENABLE_PEER_ACCESS.get())(self.0, 0) })
    }

    /// A number that distinguishes the context from all others.
    pub(crate) fn number(self) -> usize {
        self.0.addr()
    }

    pub(super) fn raw(self) -> sys::CUcontext {
        self.0
    }
}
