//! Prices of European options by Black and Scholes: two outputs for each item.

use wattle::prelude::*;

use crate::uniform;

/// The part of a normal distribution below `x`: 1 - φ(x)·P(1 / (1 + 0.2316419·x)), right to 7.5e-8 (Abramowitz and
/// Stegun, 26.2.17).
#[device_fn]
pub fn normal_below(x: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let polynomial =
        k * (0.319_381_54 + k * (-0.356_563_78 + k * (1.781_477_9 + k * (-1.821_255_9 + k * 1.330_274_5))));
    let above = 0.398_942_3 * (-0.5 * x * x).exp() * polynomial;
    if x < 0.0 { above } else { 1.0 - above }
}

/// The prices of the call and of the put for each spot price, strike price and time in years.
#[kernel]
pub fn price(
    acc: &Acc,
    rate: f32,
    volatility: f32,
    spot: Read<f32>,
    strike: Read<f32>,
    years: Read<f32>,
    call: PerItem<f32>,
    put: PerItem<f32>,
) {
    for (i, (call, put)) in acc.items((&mut call, &mut put)) {
        let deviation = volatility * years[i].sqrt();
        let d1 = ((spot[i] / strike[i]).ln() + (rate + 0.5 * volatility * volatility) * years[i]) / deviation;
        let d2 = d1 - deviation;
        let discounted = strike[i] * (-rate * years[i]).exp();
        *call = spot[i] * normal_below(d1) - discounted * normal_below(d2);
        *put = discounted * normal_below(-d2) - spot[i] * normal_below(-d1);
    }
}

/// Options, in columns.
#[derive(Clone, Debug)]
pub struct Options {
    /// The prices today.
    pub spot: Vec<f32>,
    /// The prices agreed upon.
    pub strike: Vec<f32>,
    /// The times until then, in years.
    pub years: Vec<f32>,
}

/// The prices of calls and puts.
///
/// # Errors
/// What the device says.
pub fn prices(device: &Device, rate: f32, volatility: f32, options: &Options) -> Result<(Vec<f32>, Vec<f32>)> {
    let queue = device.queue()?;
    let [spot, strike, years] =
        [&options.spot, &options.strike, &options.years].map(|column| device.from_slice(column));
    let (spot, strike, years) = (spot?, strike?, years?);
    let (mut call, mut put) = (device.alloc_like(&spot)?, device.alloc_like(&spot)?);
    let spec = FrameSpec::cover(spot.len(), 256);
    queue.launch(spec, price(rate, volatility, &spot, &strike, &years, &mut call, &mut put))?;
    Ok((call.read(&queue)?, put.read(&queue)?))
}

/// Prices of European options.
#[scenario(sizes = Sizes { full: 1 << 18, small: 1 << 9, proof: 2 })]
pub fn black_scholes(device: &Device, n: usize) -> Result<Summary> {
    let (rate, volatility) = (0.02, 0.3);
    let column = |number: usize, low, high| (0..n).map(|i| uniform(number * n + i, low, high)).collect();
    let options = Options { spot: column(0, 5.0, 30.0), strike: column(1, 1.0, 100.0), years: column(2, 0.25, 10.0) };
    let (call, put) = prices(device, rate, volatility, &options)?;

    // Whatever the volatility: call - put = spot - discounted strike.
    let parity = |i: usize| {
        let discounted = f64::from(options.strike[i]) * (-f64::from(rate) * f64::from(options.years[i])).exp();
        (f64::from(call[i]) - f64::from(put[i])) - (f64::from(options.spot[i]) - discounted)
    };
    let worst = (0..n).map(|i| parity(i).abs()).fold(0.0, f64::max);
    let mut summary = Summary::new(format!("{n} options"));
    summary.check(worst < 1e-4, "calls and puts are at parity", || format!("the worst is off by {worst:e}"))?;
    let within = (0..n).all(|i| call[i] > -1e-4 && call[i] <= options.spot[i] && put[i] > -1e-4);
    summary.check(within, "no price is negative, no call dearer than its spot", || "some are".into())?;
    Ok(summary)
}
