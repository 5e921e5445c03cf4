// Robust nonlinear least squares: the Levenberg-Marquardt method over logarithms of positive constants.
//
// The loss of a residual r (in units of its expected size) is 2 d^2 (sqrt(1 + (r/d)^2) - 1), d = 2: quadratic for small
// errors and linear for large ones, so a tenth of bad rows has little effect (Charbonnier; Barron 2019, arXiv
// 1701.03077). A constant that the rows do not determine stays at its prior.
#pragma once

#include <functional>
#include <vector>

#include <Eigen/Core>

namespace rightsize::fit {

// One constant, in logarithms: the start of the search, its expected value, and the deviation that costs as much
// as one row that is off by its expected error.
struct Unknown {
  double start = 0, prior = 0, spread = 1;
  double low = -50, high = 50;
};

// Fills the residuals at x; false if the model cannot be evaluated there.
using Residuals = std::function<bool(const Eigen::VectorXd& x, Eigen::VectorXd& residuals)>;

struct Solution {
  Eigen::VectorXd x;
  double loss = 0;
  int rounds = 0;
};

Solution minimize(const std::vector<Unknown>& unknowns, const Residuals& residuals, int most_rounds = 60);

// The loss of the rows alone, without priors.
double robust_loss(const Eigen::VectorXd& residuals);

}  // namespace rightsize::fit
