mod script;
use script::*;
use wattle_memory::{Label, Level, Model, Placement};
const D: Level = Level::Device;
#[test]
fn probe() {
    for plain in [true, false] { for order in 0..6 {
    let (read, write) = (Label::atomic_read(D), Label::atomic_write(D));
    let mut t = vec![
        vec![Op::Exchange { to: 2, cell: 1, value: constant(3), read, write }],
        vec![Op::Await { cell: 1, value: constant(3), label: read }],
        if plain { vec![Op::Load{to:0, cell:0, label: Label::plain_read()}, Op::Store { cell: 1, value: Value{constant:1,registers:vec![0]}, label: write }] } else { vec![Op::Store { cell: 1, value: constant(1), label: write }] },
    ];
    for _ in 0..order { t.rotate_left(1); }
    if order >= 3 { t.swap(0,1); }
    let pl: Vec<_> = (0..3).map(|b| Placement::new(b,0)).collect();
    for arf in [false, true] {
        let mut s = setup(&t, pl.clone(), Model::Portable); s.assume_race_free = arf;
        let mut f = Found{model: Some(Model::Portable), ..Found::default()};
        let r = wattle_check::search::search(&s, &mut f);
        println!("plain {plain} order {order} arf {arf}: complete {} stuck {:?} {:?}", f.outcomes.len(), f.stuck, r.1);
    } } }
}
