//! The driver's functions by their exported names.
//!
//! Their result is a number here: `cudarc` says that it is a `CUresult`, which would be undefined behaviour with the
//! errors of drivers that are newer than that list. The parameter types are `cudarc`'s.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ushort, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys;

/// A function of the driver, which is looked up when it is first used.
pub(super) struct Entry<F> {
    name: &'static str,
    found: OnceLock<F>,
}

impl<F: Copy> Entry<F> {
    /// An entry for the function with this exported name.
    ///
    /// # Safety
    /// In all drivers that are not refused, the function of that name has this type.
    const unsafe fn new(name: &'static str) -> Entry<F> {
        Entry { name, found: OnceLock::new() }
    }

    /// The function, looked up if it was not yet.
    ///
    /// # Panics
    /// There is no driver, or it lacks the function; [`super::load`] comes first, and refuses those ([`lacking`]).
    pub(super) fn get(&self) -> F {
        *self.found.get_or_init(|| {
            // SAFETY: the library is the CUDA driver; the code that made this entry has declared the function's type.
            let found = unsafe { sys::culib().get::<F>(self.name.as_bytes()) };
            *found
                .unwrap_or_else(|error| panic!("the CUDA driver has no {}: {error}", self.name.trim_end_matches('\0')))
        })
    }
}

/// Declares an entry for a function, named after it, with the types of its parameters.
macro_rules! entries {
    ($($entry:ident = $name:literal($($given:ty),*);)+) => {$(
        pub(super) static $entry: Entry<unsafe extern "C" fn($($given),*) -> u32> = {
            // SAFETY: the type is that of `cuda.h` 12.0, with a number in the place of the enumeration of results.
            unsafe { Entry::new(concat!($name, "\0")) }
        };
    )+

        /// The name of a function that the driver lacks; `None` if it has all.
        ///
        /// # Safety
        /// The library is there, and is the CUDA driver.
        pub(super) unsafe fn lacking() -> Option<&'static str> {
            // SAFETY: the caller's promise; nothing is called.
            let library = unsafe { sys::culib() };
            // SAFETY: the address alone is asked for.
            let is_there = |name: &str| unsafe { library.get::<*const c_void>(name.as_bytes()) }.is_ok();
            [$($name),+].into_iter().find(|name| !is_there(name))
        }
    };
}

entries! {
    INIT = "cuInit"(c_uint);
    DRIVER_GET_VERSION = "cuDriverGetVersion"(*mut c_int);
    GET_ERROR_NAME = "cuGetErrorName"(u32, *mut *const c_char);
    GET_ERROR_STRING = "cuGetErrorString"(u32, *mut *const c_char);
    DEVICE_GET_COUNT = "cuDeviceGetCount"(*mut c_int);
    DEVICE_GET = "cuDeviceGet"(*mut sys::CUdevice, c_int);
    DEVICE_GET_NAME = "cuDeviceGetName"(*mut c_char, c_int, sys::CUdevice);
    DEVICE_GET_ATTRIBUTE = "cuDeviceGetAttribute"(*mut c_int, sys::CUdevice_attribute, sys::CUdevice);
    DEVICE_TOTAL_MEM = "cuDeviceTotalMem_v2"(*mut usize, sys::CUdevice);
    DEVICE_CAN_ACCESS_PEER = "cuDeviceCanAccessPeer"(*mut c_int, sys::CUdevice, sys::CUdevice);
    PRIMARY_CTX_RETAIN = "cuDevicePrimaryCtxRetain"(*mut sys::CUcontext, sys::CUdevice);
    CTX_SET_CURRENT = "cuCtxSetCurrent"(sys::CUcontext);
    CTX_ENABLE_PEER_ACCESS = "cuCtxEnablePeerAccess"(sys::CUcontext, c_uint);
    MEM_ALLOC = "cuMemAlloc_v2"(*mut sys::CUdeviceptr, usize);
    MEM_ALLOC_MANAGED = "cuMemAllocManaged"(*mut sys::CUdeviceptr, usize, c_uint);
    MEM_HOST_ALLOC = "cuMemHostAlloc"(*mut *mut c_void, usize, c_uint);
    MEM_HOST_GET_DEVICE_POINTER = "cuMemHostGetDevicePointer_v2"(*mut sys::CUdeviceptr, *mut c_void, c_uint);
    MEM_FREE = "cuMemFree_v2"(sys::CUdeviceptr);
    MEM_FREE_HOST = "cuMemFreeHost"(*mut c_void);
    MEM_GET_INFO = "cuMemGetInfo_v2"(*mut usize, *mut usize);
    MEMCPY_H_TO_D = "cuMemcpyHtoDAsync_v2"(sys::CUdeviceptr, *const c_void, usize, sys::CUstream);
    MEMCPY_D_TO_H = "cuMemcpyDtoHAsync_v2"(*mut c_void, sys::CUdeviceptr, usize, sys::CUstream);
    MEMCPY_D_TO_D = "cuMemcpyDtoDAsync_v2"(sys::CUdeviceptr, sys::CUdeviceptr, usize, sys::CUstream);
    MEMCPY_PEER = "cuMemcpyPeerAsync"(
        sys::CUdeviceptr, sys::CUcontext, sys::CUdeviceptr, sys::CUcontext, usize, sys::CUstream);
    MEMCPY_2D = "cuMemcpy2DAsync_v2"(*const sys::CUDA_MEMCPY2D, sys::CUstream);
    MEMCPY_3D = "cuMemcpy3DAsync_v2"(*const sys::CUDA_MEMCPY3D, sys::CUstream);
    MEMSET_D8 = "cuMemsetD8Async"(sys::CUdeviceptr, c_uchar, usize, sys::CUstream);
    MEMSET_D16 = "cuMemsetD16Async"(sys::CUdeviceptr, c_ushort, usize, sys::CUstream);
    MEMSET_D32 = "cuMemsetD32Async"(sys::CUdeviceptr, c_uint, usize, sys::CUstream);
    MEMSET_2D_D8 = "cuMemsetD2D8Async"(sys::CUdeviceptr, usize, c_uchar, usize, usize, sys::CUstream);
    MEMSET_2D_D16 = "cuMemsetD2D16Async"(sys::CUdeviceptr, usize, c_ushort, usize, usize, sys::CUstream);
    MEMSET_2D_D32 = "cuMemsetD2D32Async"(sys::CUdeviceptr, usize, c_uint, usize, usize, sys::CUstream);
    STREAM_CREATE = "cuStreamCreate"(*mut sys::CUstream, c_uint);
    STREAM_DESTROY = "cuStreamDestroy_v2"(sys::CUstream);
    STREAM_QUERY = "cuStreamQuery"(sys::CUstream);
    STREAM_WAIT_EVENT = "cuStreamWaitEvent"(sys::CUstream, sys::CUevent, c_uint);
    EVENT_CREATE = "cuEventCreate"(*mut sys::CUevent, c_uint);
    EVENT_DESTROY = "cuEventDestroy_v2"(sys::CUevent);
    EVENT_RECORD = "cuEventRecord"(sys::CUevent, sys::CUstream);
    EVENT_QUERY = "cuEventQuery"(sys::CUevent);
    EVENT_ELAPSED_TIME = "cuEventElapsedTime"(*mut f32, sys::CUevent, sys::CUevent);
    LINK_CREATE = "cuLinkCreate_v2"(c_uint, *mut sys::CUjit_option, *mut *mut c_void, *mut sys::CUlinkState);
    LINK_ADD_DATA = "cuLinkAddData_v2"(
        sys::CUlinkState, sys::CUjitInputType, *mut c_void, usize, *const c_char, c_uint, *mut sys::CUjit_option,
        *mut *mut c_void);
    LINK_COMPLETE = "cuLinkComplete"(sys::CUlinkState, *mut *mut c_void, *mut usize);
    LINK_DESTROY = "cuLinkDestroy"(sys::CUlinkState);
    MODULE_LOAD_DATA = "cuModuleLoadData"(*mut sys::CUmodule, *const c_void);
    MODULE_GET_FUNCTION = "cuModuleGetFunction"(*mut sys::CUfunction, sys::CUmodule, *const c_char);
    FUNC_GET_ATTRIBUTE = "cuFuncGetAttribute"(*mut c_int, sys::CUfunction_attribute, sys::CUfunction);
    FUNC_SET_ATTRIBUTE = "cuFuncSetAttribute"(sys::CUfunction, sys::CUfunction_attribute, c_int);
    BLOCKS_PER_MULTIPROCESSOR = "cuOccupancyMaxActiveBlocksPerMultiprocessor"(
        *mut c_int, sys::CUfunction, c_int, usize);
    LAUNCH_KERNEL_EX = "cuLaunchKernelEx"(
        *const sys::CUlaunchConfig, sys::CUfunction, *mut *mut c_void, *mut *mut c_void);
}
