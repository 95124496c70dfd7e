//! The driver's functions called directly, with the same code and the same arguments.

use std::ffi::{CString, c_void};
use std::ptr::{null_mut, without_provenance_mut};

use cudarc::driver::sys;
use wattle_ir::LaunchValue;
use wattle_ptx::{Argument, PtxTarget, control};

/// A loaded kernel, a stream, and the kernel's arguments.
pub struct Raw {
    function: sys::CUfunction,
    stream: sys::CUstream,
    arguments: Vec<u8>,
}

fn said(result: sys::CUresult) -> Result<(), sys::CUresult> {
    if result == sys::CUresult::CUDA_SUCCESS { Ok(()) } else { Err(result) }
}

impl Raw {
    pub fn new(kernel: &wattle::ir::Kernel) -> Result<Raw, sys::CUresult> {
        let module = wattle_ptx::build(kernel, &PtxTarget::new(70).with_ptx(7, 0).with_max_threads(128));
        let module = module.expect("the kernel is simple");
        let text = CString::new(module.text()).expect("PTX has no zeros");
        let entry = CString::new(module.entry.clone()).expect("an entry's name has no zeros");
        let (mut context, mut loaded, mut function, mut stream) = (null_mut(), null_mut(), null_mut(), null_mut());
        let (mut words, mut alarm) = (0, null_mut::<c_void>());
        let bytes = control::WORDS as usize * 4;
        // SAFETY: a device was found, so the driver is there. The results are what each call was given places for, and
        // all of it stays until the process ends.
        unsafe {
            said(sys::cuInit(0))?;
            said(sys::cuDevicePrimaryCtxRetain(&raw mut context, 0))?;
            said(sys::cuCtxSetCurrent(context))?;
            said(sys::cuModuleLoadData(&raw mut loaded, text.as_ptr().cast()))?;
            said(sys::cuModuleGetFunction(&raw mut function, loaded, entry.as_ptr()))?;
            said(sys::cuStreamCreate(&raw mut stream, sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32))?;
            said(sys::cuMemAlloc_v2(&raw mut words, bytes + 3 * 256))?;
            said(sys::cuMemsetD8_v2(words, 0, bytes))?;
            said(sys::cuMemsetD32_v2(words + u64::from(control::GATE) * 4, control::OPEN, 1))?;
            said(sys::cuMemHostAlloc(
                &raw mut alarm,
                control::host::WORDS as usize * 4,
                sys::CU_MEMHOSTALLOC_DEVICEMAP,
            ))?;
        }
        let mut arguments = vec![0; module.layout.parameter_bytes() as usize];
        for parameter in &module.layout.arguments {
            let value = match parameter.what {
                Argument::Control => words,
                Argument::Host => alarm as u64,
                Argument::Base(_) => words + bytes as u64,
                Argument::Launch(LaunchValue::ViewExtent(..)) => 64,
                Argument::Scalar(_) => 77,
                _ => 1,
            };
            let at = parameter.offset as usize;
            arguments[at..at + parameter.size as usize]
                .copy_from_slice(&value.to_le_bytes()[..parameter.size as usize]);
        }
        Ok(Raw { function, stream, arguments })
    }

    /// Launches the kernel `launches` times, and waits: behind each launch, or behind all of them.
    pub fn launch(&self, launches: usize, wait_for_each: bool) {
        let mut size = self.arguments.len();
        let mut extra = [
            without_provenance_mut(sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT as usize),
            self.arguments.as_ptr().cast_mut().cast::<c_void>(),
            without_provenance_mut(sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT as usize),
            (&raw mut size).cast::<c_void>(),
            without_provenance_mut(sys::CU_LAUNCH_PARAM_END_AS_INT as usize),
        ];
        let config = sys::CUlaunchConfig {
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 32,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            hStream: self.stream,
            attrs: null_mut(),
            numAttrs: 0,
        };
        for _ in 0..launches {
            // SAFETY: the arguments are those that the function takes, and what they point to is there.
            unsafe {
                said(sys::cuLaunchKernelEx(&raw const config, self.function, null_mut(), extra.as_mut_ptr()))
                    .expect("it is launched");
                if wait_for_each {
                    said(sys::cuStreamSynchronize(self.stream)).expect("it ends");
                }
            }
        }
        // SAFETY: the stream is there.
        said(unsafe { sys::cuStreamSynchronize(self.stream) }).expect("they end");
    }
}
