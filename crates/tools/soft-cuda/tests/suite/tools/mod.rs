//! Tools for tests: a context, and kernels in it, through the exported functions.
#![allow(dead_code, missing_docs, reason = "each test binary uses its part")]

use std::ffi::CString;
use std::ptr::null_mut;

use soft_cuda::api::{contexts, copies, devices, launches, memory, modules, streams};
use soft_cuda::status::Status;

/// A context of device 0, current on this thread.
pub struct Session {
    pub context: usize,
}

/// Asserts that a call has succeeded.
#[track_caller]
pub fn ok(status: Status) {
    assert_eq!(status, Status::SUCCESS, "{:?}", status.texts());
}

impl Session {
    pub fn new() -> Session {
        let mut context = 0;
        // SAFETY: the pointer is to a local variable.
        unsafe {
            ok(devices::cuInit(0));
            ok(contexts::cuCtxCreate_v2(&mut context, 0, 0));
        }
        Session { context }
    }

    /// Loads a module; returns its handle, or the error and its log.
    pub fn load(&self, text: &str) -> Result<usize, (Status, String)> {
        let text = CString::new(text).expect("no zeros");
        let mut log = vec![0u8; 4096];
        let names = [5, 6];
        let mut values = [log.as_mut_ptr() as usize, log.len()];
        let mut module = 0;
        // SAFETY: all pointers are to live memory of the sizes passed.
        let status = unsafe {
            modules::cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 2, names.as_ptr(), values.as_mut_ptr())
        };
        if status == Status::SUCCESS {
            return Ok(module);
        }
        let log = log.split(|byte| *byte == 0).next().unwrap_or_default();
        Err((status, String::from_utf8_lossy(log).into_owned()))
    }

    #[track_caller]
    pub fn function(&self, text: &str, name: &str) -> usize {
        let module = self.load(text).unwrap_or_else(|(status, log)| panic!("{status:?}: {log}\n{text}"));
        let name = CString::new(name).expect("no zeros");
        let mut function = 0;
        // SAFETY: the pointers are to live memory.
        ok(unsafe { modules::cuModuleGetFunction(&mut function, module, name.as_ptr()) });
        function
    }

    pub fn device(&self, words: &[u64]) -> u64 {
        let mut at = 0;
        // SAFETY: the pointers are to live memory of that size.
        unsafe {
            ok(memory::cuMemAlloc_v2(&mut at, words.len() * 8));
            ok(copies::cuMemcpyHtoD_v2(at, words.as_ptr().cast(), words.len() * 8));
        }
        at
    }

    pub fn host(&self, at: u64, words: usize) -> Vec<u64> {
        let mut out = vec![0u64; words];
        // SAFETY: the pointer is to memory of that size.
        ok(unsafe { copies::cuMemcpyDtoH_v2(out.as_mut_ptr().cast(), at, words * 8) });
        out
    }

    /// Launches a kernel on a stream; parameters are 8 bytes each.
    pub fn launch(&self, function: usize, grid: u32, block: u32, stream: usize, params: &[u64]) -> Status {
        let pointers: Vec<*const u8> = params.iter().map(|param| std::ptr::from_ref(param).cast()).collect();
        // SAFETY: there is a pointer for each parameter.
        unsafe { launches::cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, pointers.as_ptr(), null_mut()) }
    }

    /// Waits for all work of the context.
    pub fn wait(&self) -> Status {
        // SAFETY: nothing is asked for.
        unsafe { contexts::cuCtxSynchronize() }
    }

    pub fn stream(&self) -> usize {
        let mut stream = 0;
        // SAFETY: the pointer is to a local variable.
        ok(unsafe { streams::cuStreamCreate(&mut stream, 1) });
        stream
    }

    /// Runs a kernel with one buffer of 64-bit words, which it gets as `%io`, and returns the buffer's contents.
    #[track_caller]
    pub fn run(&self, body: &str, grid: u32, block: u32, words: &[u64]) -> Result<Vec<u64>, Status> {
        let function = self.function(&kernel(body), "k");
        let at = self.device(words);
        ok(self.launch(function, grid, block, 0, &[at]));
        match self.wait() {
            Status::SUCCESS => {
                let out = self.host(at, words.len());
                // SAFETY: nothing uses the memory any more.
                ok(unsafe { memory::cuMemFree_v2(at) });
                Ok(out)
            }
            fault => Err(fault),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the context is there.
        unsafe { contexts::cuCtxDestroy_v2(self.context) };
    }
}

/// A module with a kernel `k` that has this body, registers of all kinds, and the buffer's address in `%io`.
pub fn kernel(body: &str) -> String {
    module("8.6", "sm_90", body)
}

pub fn module(version: &str, target: &str, body: &str) -> String {
    let (outer, body) = body.split_once("---").unwrap_or(("", body));
    format!(
        ".version {version}\n.target {target}\n.address_size 64\n{outer}\n.visible .entry k(.param .u64 buffer)\n{{\n\
         .reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %w<20>; .reg .b64 %i<20>; .reg .f32 %f<10>; .reg .f64 %d<10>;\n\
         .reg .b64 %io;\nld.param.u64 %io, [buffer];\ncvta.to.global.u64 %io, %io;\n{body}\n}}\n"
    )
}

/// The result of an instruction, which register 9 of that letter holds. Inputs are `%h0..`, `%w0..`, `%i0..`, `%f0..`,
/// `%d0..`, as wide as each of them is.
#[track_caller]
pub fn result(letter: char, code: &str, inputs: &[u64]) -> u64 {
    let mut body = String::new();
    for at in 0..inputs.len() {
        let offset = at * 8;
        body += &format!(
            "ld.global.u16 %h{at}, [%io+{offset}]; ld.global.u32 %w{at}, [%io+{offset}]; ld.global.u64 %i{at}, \
             [%io+{offset}]; ld.global.f32 %f{at}, [%io+{offset}]; ld.global.f64 %d{at}, [%io+{offset}];\n"
        );
    }
    body +=
        "mov.b64 %i9, 0; mov.b32 %w9, 0; mov.b16 %h9, 0; mov.f32 %f9, 0f00000000; mov.f64 %d9, 0d0000000000000000;\n";
    body += code;
    body += match letter {
        'p' => "selp.b64 %i9, 1, 0, %p9; st.global.u64 [%io], %i9;",
        'h' => "cvt.u64.u16 %i9, %h9; st.global.u64 [%io], %i9;",
        'w' => "cvt.u64.u32 %i9, %w9; st.global.u64 [%io], %i9;",
        'f' => "mov.b32 %w9, %f9; cvt.u64.u32 %i9, %w9; st.global.u64 [%io], %i9;",
        'd' => "st.global.f64 [%io], %d9;",
        _ => "st.global.u64 [%io], %i9;",
    };
    let mut words = inputs.to_vec();
    words.resize(words.len().max(1), 0);
    Session::new().run(&body, 1, 1, &words).unwrap_or_else(|fault| panic!("{fault:?}: {code}"))[0]
}
