mod script;
use script::*;
use wattle_memory::{Label, Level, Model, Placement};
const D: Level = Level::Device;
#[test]
fn probe() {
    let (read, write) = (Label::atomic_read(D), Label::atomic_write(D));
    let st = |v| Op::Store { cell: 1, value: constant(v), label: write };
    let ex = |v| Op::Exchange { to: 2, cell: 1, value: constant(v), read, write };
    let aw = Op::Await { cell: 1, value: constant(3), label: read };
    for (n, t) in [("st3|aw|st1", vec![vec![st(3)], vec![aw.clone()], vec![st(1)]]),
        ("ex3|aw|st1", vec![vec![ex(3)], vec![aw.clone()], vec![st(1)]]),
        ("ex3|aw|ex1", vec![vec![ex(3)], vec![aw.clone()], vec![ex(1)]]),
        ("st3|aw|ex1", vec![vec![st(3)], vec![aw.clone()], vec![ex(1)]]),
        ("st3;ld|aw|st1", vec![vec![st(3), Op::Load{to:0,cell:1,label:read}], vec![aw.clone()], vec![st(1)]]),
        ("ex3|aw", vec![vec![ex(3)], vec![aw.clone()]]),
        ("ex3;st1|aw", vec![vec![ex(3), st(1)], vec![aw.clone()]]),
        ] {
    let pl: Vec<_> = (0..t.len() as u32).map(|b| Placement::new(b,0)).collect();
    for model in [Model::Portable, Model::Rust, Model::Sc] { for arf in [false, true] {
        let mut s = setup(&t, pl.clone(), model); s.assume_race_free = arf;
        let mut f = Found{model: Some(model), ..Found::default()};
        let r = wattle_check::search::search(&s, &mut f);
        println!("P {n} {model} arf {arf}: complete {} stuck {:?} {:?}", f.outcomes.len(), f.stuck, r.1);
    } } }
}
