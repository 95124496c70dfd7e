//! The driver's error codes.

/// A `CUresult` of the driver API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Status(pub u32);

/// The result of a call.
pub type Done<T = ()> = Result<T, Status>;

macro_rules! statuses {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        impl Status {
            $(#[doc = $text] pub const $name: Status = Status($code);)*

            /// The name of the error and its description, each with a zero at the end; `None` for an unknown code.
            pub fn texts(self) -> Option<(&'static str, &'static str)> {
                Some(match self.0 {
                    $($code => (concat!("CUDA_", stringify!($name), "\0"), concat!($text, "\0")),)*
                    _ => return None,
                })
            }
        }
    };
}

statuses! {
    SUCCESS = 0, "no error";
    ERROR_INVALID_VALUE = 1, "invalid argument";
    ERROR_OUT_OF_MEMORY = 2, "out of memory";
    ERROR_NOT_INITIALIZED = 3, "initialization error";
    ERROR_DEINITIALIZED = 4, "driver shutting down";
    ERROR_STUB_LIBRARY = 34, "CUDA driver is a stub library";
    ERROR_DEVICE_UNAVAILABLE = 46, "CUDA-capable device(s) is/are busy or unavailable";
    ERROR_NO_DEVICE = 100, "no CUDA-capable device is detected";
    ERROR_INVALID_DEVICE = 101, "invalid device ordinal";
    ERROR_INVALID_IMAGE = 200, "device kernel image is invalid";
    ERROR_INVALID_CONTEXT = 201, "invalid device context";
    ERROR_NO_BINARY_FOR_GPU = 209, "no kernel image is available for execution on the device";
    ERROR_ECC_UNCORRECTABLE = 214, "uncorrectable ECC error encountered";
    ERROR_UNSUPPORTED_LIMIT = 215, "limit is not supported on this architecture";
    ERROR_PEER_ACCESS_UNSUPPORTED = 217, "peer access is not supported between these two devices";
    ERROR_INVALID_PTX = 218, "a PTX JIT compilation failed";
    ERROR_JIT_COMPILER_NOT_FOUND = 221, "PTX JIT compiler library not found";
    ERROR_UNSUPPORTED_PTX_VERSION = 222, "the provided PTX was compiled with an unsupported toolchain.";
    ERROR_INVALID_SOURCE = 300, "device kernel image is invalid";
    ERROR_FILE_NOT_FOUND = 301, "file not found";
    ERROR_OPERATING_SYSTEM = 304, "OS call failed or operation not supported on this OS";
    ERROR_INVALID_HANDLE = 400, "invalid resource handle";
    ERROR_ILLEGAL_STATE = 401, "the operation cannot be performed in the present state";
    ERROR_NOT_FOUND = 500, "named symbol not found";
    ERROR_NOT_READY = 600, "device not ready";
    ERROR_ILLEGAL_ADDRESS = 700, "an illegal memory access was encountered";
    ERROR_LAUNCH_OUT_OF_RESOURCES = 701, "too many resources requested for launch";
    ERROR_LAUNCH_TIMEOUT = 702, "the launch timed out and was terminated";
    ERROR_PEER_ACCESS_ALREADY_ENABLED = 704, "peer access is already enabled";
    ERROR_PEER_ACCESS_NOT_ENABLED = 705, "peer access has not been enabled";
    ERROR_PRIMARY_CONTEXT_ACTIVE = 708, "cannot set while device is active in this process";
    ERROR_CONTEXT_IS_DESTROYED = 709, "context is destroyed";
    ERROR_ASSERT = 710, "device-side assert triggered";
    ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712, "part or all of the requested memory range is already mapped";
    ERROR_HOST_MEMORY_NOT_REGISTERED = 713, "pointer does not correspond to a registered memory region";
    ERROR_HARDWARE_STACK_ERROR = 714, "hardware stack error";
    ERROR_ILLEGAL_INSTRUCTION = 715, "an illegal instruction was encountered";
    ERROR_MISALIGNED_ADDRESS = 716, "misaligned address";
    ERROR_INVALID_ADDRESS_SPACE = 717, "operation not supported on global/shared address space";
    ERROR_INVALID_PC = 718, "invalid program counter";
    ERROR_LAUNCH_FAILED = 719, "unspecified launch failure";
    ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720, "too many blocks in cooperative launch";
    ERROR_NOT_PERMITTED = 800, "operation not permitted";
    ERROR_NOT_SUPPORTED = 801, "operation not supported";
    ERROR_SYSTEM_NOT_READY = 802, "system not yet initialized";
    ERROR_SYSTEM_DRIVER_MISMATCH = 803, "system has unsupported display driver / cuda driver combination";
    ERROR_UNKNOWN = 999, "unknown error";
}
