//! Modules, their functions, and launches.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use cudarc::driver::sys;

use super::{Refusal, Said, Stream, functions, said};

/// How many bytes of the assembler's log are kept.
const LOG: usize = 8 << 10;

/// Compiles PTX to machine code for the current context's device.
///
/// # Errors
/// The driver's error, and the assembler's log.
pub(crate) fn link(name: &CStr, ptx: &CStr) -> Result<Vec<u8>, (Refusal, String)> {
    let mut log = vec![0u8; LOG];
    let mut options =
        [sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The driver takes this number in the place of an address.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(LOG)];
    let mut state = std::ptr::null_mut();
    // SAFETY: options and values are as many as is said, and the log outlives the state, which keeps the address.
    let made =
        said(unsafe { (functions::LINK_CREATE.get())(2, options.as_mut_ptr(), values.as_mut_ptr(), &raw mut state) });
    made.map_err(|refusal| (refusal, String::new()))?;
    let (mut cubin, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the state was just made; the text ends with a zero, which counts (CUDA driver API, `cuLinkAddData`), and
    // the driver only reads it.
    let linked = said(unsafe {
        (functions::LINK_ADD_DATA.get())(
            state,
            sys::CUjitInputType::CU_JIT_INPUT_PTX,
            ptx.as_ptr().cast_mut().cast(),
            ptx.to_bytes_with_nul().len(),
            name.as_ptr(),
            0,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        )
    })
    // SAFETY: as above; the places are there.
    .and_then(|()| said(unsafe { (functions::LINK_COMPLETE.get())(state, &raw mut cubin, &raw mut size) }))
    // SAFETY: the code is there, of that size, until the state is destroyed.
    .map(|()| unsafe { std::slice::from_raw_parts(cubin.cast::<u8>().cast_const(), size) }.to_vec());
    // SAFETY: it is destroyed once.
    let _ = unsafe { (functions::LINK_DESTROY.get())(state) };
    linked.map_err(|refusal| {
        let said = CStr::from_bytes_until_nul(&log).map(|log| log.to_string_lossy().trim().to_owned());
        (refusal, said.unwrap_or_default())
    })
}

/// Loaded machine code. It stays loaded as long as the process: unloading would wait for all that the context does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Module(NonNull<sys::CUmod_st>);

// SAFETY: modules are the driver's, which all threads may use.
unsafe impl Send for Module {}

impl Module {
    /// Loads machine code made by [`link`] into the current context.
    pub(crate) fn load(cubin: &[u8]) -> Said<Module> {
        let mut module = std::ptr::null_mut();
        // SAFETY: the code's head says how long it is; the caller has checked that it is whole.
        said(unsafe { (functions::MODULE_LOAD_DATA.get())(&raw mut module, cubin.as_ptr().cast()) })?;
        NonNull::new(module).map(Module).ok_or(Refusal::of(sys::CUresult::CUDA_ERROR_INVALID_IMAGE))
    }

    pub(crate) fn function(self, name: &CStr) -> Said<Function> {
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is never unloaded, and the place is there.
        said(unsafe { (functions::MODULE_GET_FUNCTION.get())(&raw mut function, self.0.as_ptr(), name.as_ptr()) })?;
        NonNull::new(function).map(Function).ok_or(Refusal::of(sys::CUresult::CUDA_ERROR_NOT_FOUND))
    }
}

/// A function of a module that is never unloaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function(NonNull<sys::CUfunc_st>);

// SAFETY: functions are the driver's, which all threads may use.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    /// The most threads per block that the registers suffice for.
    pub(crate) fn most_threads(self) -> Said<u32> {
        let mut value = 0;
        let what = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        // SAFETY: the function is one, and the place is there.
        said(unsafe { (functions::FUNC_GET_ATTRIBUTE.get())(&raw mut value, what, self.0.as_ptr()) })?;
        Ok(value.max(0) as u32)
    }

    /// Allows launches to give `bytes` bytes of shared memory.
    pub(crate) fn allow_shared(self, bytes: u32) -> Said {
        let what = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is one.
        said(unsafe { (functions::FUNC_SET_ATTRIBUTE.get())(self.0.as_ptr(), what, bytes as i32) })
    }

    /// How many blocks of `threads` threads, with `shared_bytes` bytes of shared memory from the launch, one
    /// multiprocessor runs at the same time.
    pub(crate) fn blocks_per_multiprocessor(self, threads: u32, shared_bytes: u32) -> Said<u32> {
        let mut blocks = 0;
        // SAFETY: as above, and the place is there.
        said(unsafe {
            (functions::BLOCKS_PER_MULTIPROCESSOR.get())(
                &raw mut blocks,
                self.0.as_ptr(),
                threads as i32,
                shared_bytes as usize,
            )
        })?;
        Ok(blocks.max(0) as u32)
    }
}

/// The launch attributes besides the shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    /// Whether all blocks must run at once.
    pub(crate) cooperative: bool,
    /// Whether the launch is in the second of the two logical memory synchronization domains.
    pub(crate) remote: bool,
    /// The device's domains that the two logical ones map to; `None` for 0 and 1.
    pub(crate) map: Option<(u8, u8)>,
}

/// A launch of a function.
pub(crate) struct Launch<'l> {
    pub(crate) function: Function,
    /// The blocks, and the threads of a block, in x, y and z.
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: [u32; 3],
    pub(crate) shared_bytes: u32,
    /// The parameters' bytes, each at the function's offset for it.
    pub(crate) arguments: &'l [u8],
    pub(crate) extras: Extras,
}

impl Launch<'_> {
    /// Submits the launch to a stream.
    ///
    /// # Safety
    /// The arguments are those that the function takes, and what they point to is there until the launch has ended.
    pub(crate) unsafe fn submit(&self, stream: &Stream) -> Said {
        use sys::{CUlaunchAttributeID_enum as Id, CUlaunchAttributeValue as Value};
        let nothing = Value { pad: [0; 64] };
        let mut attributes =
            [sys::CUlaunchAttribute { id: Id::CU_LAUNCH_ATTRIBUTE_IGNORE, pad: [0; 4], value: nothing }; 3];
        let mut count = 0;
        let mut add = |id, value| {
            attributes[count] = sys::CUlaunchAttribute { id, pad: [0; 4], value };
            count += 1;
        };
        if self.extras.cooperative {
            add(Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, Value { cooperative: 1 });
        }
        if self.extras.remote {
            let domain = sys::CUlaunchMemSyncDomain::CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
            add(Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, Value { memSyncDomain: domain });
        }
        if let Some((default_, remote)) = self.extras.map {
            let map = sys::CUlaunchMemSyncDomainMap { default_, remote };
            add(Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, Value { memSyncDomainMap: map });
        }
        let config = sys::CUlaunchConfig {
            gridDimX: self.blocks[0],
            gridDimY: self.blocks[1],
            gridDimZ: self.blocks[2],
            blockDimX: self.threads[0],
            blockDimY: self.threads[1],
            blockDimZ: self.threads[2],
            sharedMemBytes: self.shared_bytes,
            hStream: stream.raw(),
            attrs: attributes.as_mut_ptr(),
            numAttrs: count as u32,
        };
        let mut size = self.arguments.len();
        let mut extra = [
            std::ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT as usize),
            self.arguments.as_ptr().cast_mut().cast::<c_void>(),
            std::ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT as usize),
            (&raw mut size).cast::<c_void>(),
            std::ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_END_AS_INT as usize),
        ];
        // SAFETY: the caller's promise; the driver copies the arguments before it returns.
        said(unsafe {
            (functions::LAUNCH_KERNEL_EX.get())(
                &raw const config,
                self.function.0.as_ptr(),
                std::ptr::null_mut(),
                extra.as_mut_ptr(),
            )
        })
    }
}
