//! Time against size, as a picture.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

/// The points of a family: how large, and how many seconds.
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Draws all lines; time is on a logarithmic scale.
pub fn draw(path: &Path, lines: &[Line]) -> Result<(), Box<dyn Error + Send + Sync>> {
    let root = SVGBackend::new(path, (1200, 720)).into_drawing_area();
    root.fill(&WHITE).map_err(said)?;
    let times = || lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
    let sizes = || lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
    let (shortest, longest) = (times().fold(f64::MAX, f64::min), times().fold(0.0, f64::max));
    let (smallest, largest) = (sizes().fold(f64::MAX, f64::min), sizes().fold(0.0, f64::max));
    let mut chart = ChartBuilder::on(&root)
        .caption("wattle check: time against size", ("sans-serif", 24))
        .margin(16)
        .margin_right(260)
        .x_label_area_size(48)
        .y_label_area_size(80)
        .build_cartesian_2d(smallest - 0.5..largest + 0.5, (shortest / 2.0..longest * 2.0).log_scale())
        .map_err(said)?;
    chart
        .configure_mesh()
        .x_desc("threads; barriers where there are 64 threads")
        .y_desc("seconds")
        .y_label_formatter(&|seconds| format!("{seconds:.0e}"))
        .light_line_style(TRANSPARENT)
        .draw()
        .map_err(said)?;
    let (_, bottom) = root.dim_in_pixel();
    for (number, line) in lines.iter().enumerate() {
        let color = Palette99::pick(number).to_rgba();
        chart.draw_series(LineSeries::new(line.points.iter().copied(), color.stroke_width(2))).map_err(said)?;
        let dots = line.points.iter().map(|&point| Circle::new(point, 3, color.filled()));
        chart.draw_series(dots).map_err(said)?;
        // Beside the chart, so that no line runs through the names.
        let at = 60 + number as i32 * 24;
        if at < bottom as i32 {
            let mark = Rectangle::new([(955, at), (975, at + 4)], color.filled());
            root.draw(&mark).map_err(said)?;
            root.draw(&Text::new(line.name.clone(), (985, at - 6), ("sans-serif", 15))).map_err(said)?;
        }
    }
    root.present().map_err(said)?;
    Ok(())
}

fn said(error: impl std::fmt::Display) -> Box<dyn Error + Send + Sync> {
    error.to_string().into()
}
