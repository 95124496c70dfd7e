//! The CUDA driver's functions, each called in one place. Nothing else here calls the driver.
//!
//! `cudarc` finds the library when a function is called for the first time, and panics if there is none or if it lacks
//! the function. So [`load`] comes first: it looks whether there is a library, and refuses drivers that are older than
//! [`LEAST_VERSION`], which has all functions that are called here.
//!
//! What a function is given it must be able to rely on: handles have types of their own, which cannot be made elsewhere
//! and are never used when they are gone. Functions that are given addresses are unsafe.

mod device;
mod memory;
mod module;
mod stream;

use std::ffi::CStr;
use std::fmt;
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUresult};

pub(crate) use cudarc::driver::sys::CUdevice_attribute as Attribute;
pub(crate) use device::{Ordinal, PrimaryContext, count};
pub(crate) use memory::{
    Address, Pattern, Pitch, Place, Rows, copy, copy_from_host, copy_peer, copy_rows, copy_to_host, fill, free,
    free_host, free_memory, new_device, new_host, new_managed,
};
pub(crate) use module::{Extras, Function, Launch, Module, link};
pub(crate) use stream::{Event, Stream};

/// The oldest driver that can be used, as `cuDriverGetVersion` numbers them: CUDA 12.0. It is the first that has
/// `cuLaunchKernelEx` with memory synchronization domains.
pub(crate) const LEAST_VERSION: i32 = 12_000;

/// What the driver said instead of doing what it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(CUresult);

/// What a call of the driver's gives.
pub(crate) type Said<T = ()> = Result<T, Refusal>;

/// What a function of the driver's returned.
fn said(result: CUresult) -> Said {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(Refusal(result)) }
}

/// As [`said`], of functions that ask whether something is done.
fn is_done(result: CUresult) -> Said<bool> {
    if result == CUresult::CUDA_ERROR_NOT_READY { Ok(false) } else { said(result).map(|()| true) }
}

impl Refusal {
    /// Whether the context can do nothing any more: such errors come back from every later call (CUDA driver API,
    /// "Data types used by CUDA driver": "the context is in an inconsistent state and any further CUDA work will return
    /// the same error. To continue using CUDA, the process must be terminated and relaunched").
    pub(crate) fn ends_context(self) -> bool {
        use CUresult as R;
        matches!(
            self.0,
            R::CUDA_ERROR_DEINITIALIZED
                | R::CUDA_ERROR_DEVICE_UNAVAILABLE
                | R::CUDA_ERROR_INVALID_CONTEXT
                | R::CUDA_ERROR_ECC_UNCORRECTABLE
                | R::CUDA_ERROR_NVLINK_UNCORRECTABLE
                | R::CUDA_ERROR_ILLEGAL_ADDRESS
                | R::CUDA_ERROR_LAUNCH_TIMEOUT
                | R::CUDA_ERROR_CONTEXT_IS_DESTROYED
                | R::CUDA_ERROR_ASSERT
                | R::CUDA_ERROR_HARDWARE_STACK_ERROR
                | R::CUDA_ERROR_ILLEGAL_INSTRUCTION
                | R::CUDA_ERROR_MISALIGNED_ADDRESS
                | R::CUDA_ERROR_INVALID_ADDRESS_SPACE
                | R::CUDA_ERROR_INVALID_PC
                | R::CUDA_ERROR_LAUNCH_FAILED
                | R::CUDA_ERROR_MPS_CLIENT_TERMINATED
                | R::CUDA_ERROR_EXTERNAL_DEVICE
                | R::CUDA_ERROR_UNKNOWN
        )
    }

    /// Whether a running kernel brought it about.
    pub(crate) fn is_of_a_kernel(self) -> bool {
        use CUresult as R;
        matches!(
            self.0,
            R::CUDA_ERROR_ILLEGAL_ADDRESS
                | R::CUDA_ERROR_LAUNCH_TIMEOUT
                | R::CUDA_ERROR_ASSERT
                | R::CUDA_ERROR_HARDWARE_STACK_ERROR
                | R::CUDA_ERROR_ILLEGAL_INSTRUCTION
                | R::CUDA_ERROR_MISALIGNED_ADDRESS
                | R::CUDA_ERROR_INVALID_ADDRESS_SPACE
                | R::CUDA_ERROR_INVALID_PC
                | R::CUDA_ERROR_LAUNCH_FAILED
                | R::CUDA_ERROR_UNKNOWN
        )
    }

    /// Whether there is not so much memory.
    pub(crate) fn is_out_of_memory(self) -> bool {
        self.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY
    }

    /// Whether another context is current than the one that was meant, or none.
    pub(crate) fn is_wrong_context(self) -> bool {
        matches!(self.0, CUresult::CUDA_ERROR_INVALID_CONTEXT | CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Whether it had been done before.
    pub(crate) fn is_already(self) -> bool {
        self.0 == CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
    }

    /// What it means, where the driver's own words do not tell what to think of it.
    fn meaning(self) -> Option<&'static str> {
        use CUresult as R;
        Some(match self.0 {
            R::CUDA_ERROR_STUB_LIBRARY => {
                "the library that was found is the toolkit's stub, which is for linking; the driver brings another one"
            }
            R::CUDA_ERROR_NO_DEVICE => "there is no GPU that it can use (is one hidden by CUDA_VISIBLE_DEVICES?)",
            R::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
                "the driver's library and its part in the kernel differ in version; start the machine again after an \
                 update"
            }
            R::CUDA_ERROR_SYSTEM_NOT_READY => "the machine's GPUs are not ready yet; is the fabric manager running?",
            R::CUDA_ERROR_DEVICE_UNAVAILABLE => "another program has the GPU for itself, or it is switched off",
            R::CUDA_ERROR_ILLEGAL_ADDRESS => "a kernel used an address that is nobody's",
            R::CUDA_ERROR_MISALIGNED_ADDRESS => "a kernel used an address that is no multiple of the access's size",
            R::CUDA_ERROR_LAUNCH_FAILED => "a kernel ended in a trap",
            R::CUDA_ERROR_LAUNCH_TIMEOUT => {
                "the driver ended a launch that took too long for it, since the GPU has a screen"
            }
            R::CUDA_ERROR_CONTEXT_IS_DESTROYED | R::CUDA_ERROR_INVALID_CONTEXT => {
                "another part of the program has destroyed or reset the device's primary context"
            }
            R::CUDA_ERROR_DEINITIALIZED => "the process is about to end",
            R::CUDA_ERROR_ECC_UNCORRECTABLE => "the GPU's memory has an error that could not be corrected",
            R::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => "the driver is too old for this version of PTX",
            R::CUDA_ERROR_JIT_COMPILER_NOT_FOUND => {
                "the driver's compiler is missing (libnvidia-ptxjitcompiler); install the whole driver"
            }
            _ => return None,
        })
    }

    /// The driver's name for it, and what it says of it.
    fn own_words(self) -> (String, String) {
        let text = |get: unsafe fn(CUresult, *mut *const std::ffi::c_char) -> CUresult| {
            let mut words = std::ptr::null();
            // SAFETY: the library is loaded, since it has refused something, and the place is there.
            let found = unsafe { get(self.0, &raw mut words) } == CUresult::CUDA_SUCCESS && !words.is_null();
            // SAFETY: the driver gives strings that live as long as it does.
            found.then(|| unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned())
        };
        (
            text(sys::cuGetErrorName).unwrap_or_else(|| format!("error {}", self.0 as u32)),
            text(sys::cuGetErrorString).unwrap_or_default(),
        )
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, words) = self.own_words();
        match self.meaning() {
            Some(meaning) => write!(f, "{meaning} ({name})"),
            None if words.is_empty() => f.write_str(&name),
            None => write!(f, "{words} ({name})"),
        }
    }
}

/// Loads the driver and starts it, once; its version.
///
/// # Errors
/// Why it cannot be used, and what to do.
pub(crate) fn load() -> Result<i32, String> {
    static LOADED: OnceLock<Result<i32, String>> = OnceLock::new();
    LOADED.get_or_init(load_now).clone()
}

fn load_now() -> Result<i32, String> {
    const INSTALL: &str = "install NVIDIA's driver for your GPU (no toolkit is needed)";
    // SAFETY: the library that the system's linker finds under the driver's names is the CUDA driver.
    if !unsafe { sys::is_culib_present() } {
        return Err(format!("the CUDA driver was not found (libcuda.so); {INSTALL}"));
    }
    let mut version = 0;
    // SAFETY: the library is there; every version has the function, and the place is there.
    said(unsafe { sys::cuDriverGetVersion(&raw mut version) })
        .map_err(|refusal| format!("the CUDA driver does not tell its version: {refusal}; {INSTALL}"))?;
    if version < LEAST_VERSION {
        return Err(format!(
            "the CUDA driver is for CUDA {}, and {} is the oldest that can be used; {INSTALL}",
            version_text(version),
            version_text(LEAST_VERSION)
        ));
    }
    // SAFETY: as above.
    said(unsafe { sys::cuInit(0) })
        .map_err(|refusal| format!("the CUDA driver cannot be started: {refusal}; {INSTALL}"))?;
    Ok(version)
}

/// A version as people write it.
pub(crate) fn version_text(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}
