use wattle::prelude::*;

#[kernel]
struct Example;

fn main() {}
