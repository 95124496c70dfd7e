//! The CUDA driver's functions, each called in one place. Nothing else here calls the driver.
//!
//! `cudarc` finds the library, and panics if there is none. So [`load`] comes first: it checks that there is one, and
//! refuses drivers that are older than [`LEAST_VERSION`], which has all functions that are called here ([`functions`]).
//!
//! A driver function relies on its arguments being valid: handles have types of their own, which cannot be made
//! elsewhere and are never used when their object is gone. Functions that take addresses are unsafe.

mod device;
mod functions;
mod memory;
mod module;
mod stream;

use std::ffi::{CStr, c_char};
use std::fmt;
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUresult};

use crate::exit;

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

/// An error that the driver returned: a number, of which newer drivers have others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(u32);

/// The result of a call to the driver.
pub(crate) type Said<T = ()> = Result<T, Refusal>;

/// The result for a driver function's return code.
fn said(result: u32) -> Said {
    if result == CUresult::CUDA_SUCCESS as u32 { Ok(()) } else { Err(Refusal(result)) }
}

/// The result for the return code of a function that asks whether something is done.
fn is_done(result: u32) -> Said<bool> {
    if result == CUresult::CUDA_ERROR_NOT_READY as u32 { Ok(false) } else { said(result).map(|()| true) }
}

/// Errors that a running kernel causes or encounters, and that end the context.
const OF_A_KERNEL: [CUresult; 12] = [
    CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
    CUresult::CUDA_ERROR_ASSERT,
    CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
    CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUresult::CUDA_ERROR_INVALID_PC,
    CUresult::CUDA_ERROR_LAUNCH_FAILED,
    CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
    CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUresult::CUDA_ERROR_UNKNOWN,
];

/// Errors of the same kind that newer drivers have: `CUDA_ERROR_CONTAINED` and `CUDA_ERROR_TENSOR_MEMORY_LEAK`.
const NEWER_OF_A_KERNEL: [u32; 2] = [226, 721];

/// The errors, beside those of a kernel's own, after which a context cannot be used any more.
const OF_THE_CONTEXT: [CUresult; 6] = [
    CUresult::CUDA_ERROR_DEINITIALIZED,
    CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE,
    CUresult::CUDA_ERROR_INVALID_CONTEXT,
    CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUresult::CUDA_ERROR_MPS_CLIENT_TERMINATED,
    CUresult::CUDA_ERROR_EXTERNAL_DEVICE,
];

/// What errors mean, where the driver's own words do not explain it.
const MEANINGS: [(CUresult, &str); 15] = [
    (
        CUresult::CUDA_ERROR_STUB_LIBRARY,
        "the library that was found is the toolkit's stub, which is for linking; the driver brings another one",
    ),
    (CUresult::CUDA_ERROR_NO_DEVICE, "there is no GPU that it can use (is one hidden by CUDA_VISIBLE_DEVICES?)"),
    (
        CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
        "the driver's library and its part in the kernel differ in version, as after an update",
    ),
    (CUresult::CUDA_ERROR_SYSTEM_NOT_READY, "the machine's GPUs are not ready yet; is the fabric manager running?"),
    (CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE, "another program has the GPU for itself, or it is switched off"),
    (CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel used an address that is nobody's"),
    (CUresult::CUDA_ERROR_MISALIGNED_ADDRESS, "a kernel used an address that is no multiple of the access's size"),
    (CUresult::CUDA_ERROR_LAUNCH_FAILED, "a kernel ended in a trap"),
    (
        CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
        "the driver ended a launch that took too long for it, since the GPU has a screen",
    ),
    (CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED, RESET),
    (CUresult::CUDA_ERROR_INVALID_CONTEXT, RESET),
    (CUresult::CUDA_ERROR_DEINITIALIZED, "the process is about to end"),
    (CUresult::CUDA_ERROR_ECC_UNCORRECTABLE, "the GPU's memory has an error that could not be corrected"),
    (CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the driver is too old for this version of PTX"),
    (
        CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
        "the driver's compiler is missing (libnvidia-ptxjitcompiler); install the whole driver",
    ),
];

const RESET: &str = "another part of the program has destroyed or reset the device's primary context";

impl Refusal {
    /// The refusal with this result.
    const fn of(result: CUresult) -> Refusal {
        Refusal(result as u32)
    }

    fn is_one_of(self, results: &[CUresult]) -> bool {
        results.iter().any(|result| *result as u32 == self.0)
    }

    /// Whether the context can do nothing any more: such errors come back from every later call (CUDA driver API,
    /// "Data types used by CUDA driver": "the context is in an inconsistent state and any further CUDA work will return
    /// the same error. To continue using CUDA, the process must be terminated and relaunched").
    pub(crate) fn ends_context(self) -> bool {
        self.is_of_a_kernel() || self.is_one_of(&OF_THE_CONTEXT)
    }

    /// Whether a running kernel caused or encountered the error.
    pub(crate) fn is_of_a_kernel(self) -> bool {
        self.is_one_of(&OF_A_KERNEL) || NEWER_OF_A_KERNEL.contains(&self.0)
    }

    /// Whether there was not enough memory.
    pub(crate) fn is_out_of_memory(self) -> bool {
        self.is_one_of(&[CUresult::CUDA_ERROR_OUT_OF_MEMORY])
    }

    /// Whether another context is current than the one that is needed, or none.
    pub(crate) fn is_wrong_context(self) -> bool {
        self.is_one_of(&[CUresult::CUDA_ERROR_INVALID_CONTEXT, CUresult::CUDA_ERROR_INVALID_HANDLE])
    }

    /// Whether the setting had been made before.
    pub(crate) fn is_already(self) -> bool {
        self.is_one_of(&[CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED])
    }

    /// What the error means, where the driver's own words do not explain it.
    fn meaning(self) -> Option<&'static str> {
        MEANINGS.iter().find(|(result, _)| *result as u32 == self.0).map(|(_, words)| *words)
    }

    /// What to do if the driver does not start for this reason, unless it is to install the driver.
    fn instead_of_starting(self) -> Option<&'static str> {
        let known = [
            (CUresult::CUDA_ERROR_NO_DEVICE, "see what CUDA_VISIBLE_DEVICES in the environment says, and nvidia-smi"),
            (CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "start the machine again, or load the kernel's module anew"),
            (
                CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
                "take the toolkit's compatibility package (its folder `compat`) out of LD_LIBRARY_PATH",
            ),
            (CUresult::CUDA_ERROR_SYSTEM_NOT_READY, "start the fabric manager (nvidia-fabricmanager), and try again"),
            (CUresult::CUDA_ERROR_UNKNOWN, "see the kernel's log (dmesg); loading the module nvidia_uvm anew may help"),
        ];
        known.iter().find(|(result, _)| *result as u32 == self.0).map(|(_, instead)| *instead)
    }

    /// The driver's name for the error, and its description.
    fn own_words(self) -> (String, String) {
        let text = |get: unsafe extern "C" fn(u32, *mut *const c_char) -> u32| {
            let mut words = std::ptr::null();
            // SAFETY: the library is loaded, since it has returned an error, and the place is there; for a number that
            // is none of its errors the driver returns an error.
            let found = said(unsafe { get(self.0, &raw mut words) }).is_ok() && !words.is_null();
            // SAFETY: the driver gives strings that live as long as it does.
            found.then(|| unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned())
        };
        (
            text(functions::GET_ERROR_NAME.get()).unwrap_or_else(|| format!("error {}", self.0)),
            text(functions::GET_ERROR_STRING.get()).unwrap_or_default(),
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

/// Loads the driver and starts it, once; returns its version.
///
/// # Errors
/// The driver cannot be used; the text says why, and what to do.
pub(crate) fn load() -> Result<i32, String> {
    static LOADED: OnceLock<Result<i32, String>> = OnceLock::new();
    LOADED.get_or_init(load_now).clone()
}

fn load_now() -> Result<i32, String> {
    const INSTALL: &str = "install NVIDIA's driver for your GPU (no toolkit is needed)";
    // SAFETY: the library that the system's linker finds under the driver's names is the CUDA driver.
    if !unsafe { sys::is_culib_present() } {
        return Err(format!("the CUDA driver was not found, or cannot be loaded (libcuda.so); {INSTALL}"));
    }
    // SAFETY: as above.
    if let Some(name) = unsafe { functions::lacking() } {
        return Err(format!(
            "the CUDA driver was found (libcuda.so), and lacks {name}: it is older than CUDA {}, or no driver; {INSTALL}",
            version_text(LEAST_VERSION)
        ));
    }
    let mut version = 0;
    // SAFETY: the library is there; every version has the function, and the place is there.
    said(unsafe { (functions::DRIVER_GET_VERSION.get())(&raw mut version) })
        .map_err(|refusal| format!("the CUDA driver does not tell its version: {refusal}; {INSTALL}"))?;
    if version < LEAST_VERSION {
        return Err(format!(
            "the CUDA driver is for CUDA {}, and {} is the oldest that can be used; {INSTALL}",
            version_text(version),
            version_text(LEAST_VERSION)
        ));
    }
    // SAFETY: as above.
    said(unsafe { (functions::INIT.get())(0) }).map_err(|refusal| {
        let instead = refusal.instead_of_starting().unwrap_or(INSTALL);
        format!("the CUDA driver cannot be started: {refusal}; {instead}")
    })?;
    exit::before_the_driver();
    Ok(version)
}

/// A version number of the driver's, as `major.minor`.
pub(crate) fn version_text(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}
