//! The driver: devices, contexts, streams, memory and modules, behind the exported functions.
//!
//! Each file uses only those before it: [`status`], [`lock`], [`handle`], [`config`], [`stream`], [`context`],
//! [`event`], [`allocate`], [`transfer`], [`image`], [`module`], [`launch`], [`teardown`].

pub mod allocate;
pub mod config;
pub mod context;
pub mod event;
pub mod handle;
pub mod image;
pub mod launch;
pub mod lock;
pub mod module;
pub mod status;
pub mod stream;
pub mod teardown;
pub mod transfer;
