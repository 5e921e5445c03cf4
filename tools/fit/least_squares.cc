#include "least_squares.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

namespace rightsize::fit {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kKnee = 2.0;

double loss_of(const std::vector<Unknown>& unknowns, const VectorXd& x, const VectorXd& residuals) {
  double sum = robust_loss(residuals);
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const Unknown& u = unknowns[static_cast<std::size_t>(i)];
    sum += std::pow((x[i] - u.prior) / u.spread, 2);
  }
  return sum;
}

VectorXd inside(const std::vector<Unknown>& unknowns, VectorXd x) {
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const Unknown& u = unknowns[static_cast<std::size_t>(i)];
    x[i] = std::clamp(x[i], u.low, u.high);
  }
  return x;
}

// Forward differences, backward ones at an upper bound: the model is smooth in the logarithm of every constant, and a
// part in a thousand is far above rounding.
bool jacobian(const std::vector<Unknown>& unknowns, const Residuals& residuals, const VectorXd& x, const VectorXd& at,
              MatrixXd& j) {
  constexpr double kStep = 1e-3;
  VectorXd moved;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    VectorXd y = x;
    const double step = x[i] + kStep > unknowns[static_cast<std::size_t>(i)].high ? -kStep : kStep;
    y[i] += step;
    if (!residuals(y, moved)) return false;
    j.col(i) = (moved - at) / step;
  }
  return true;
}

}  // namespace

double robust_loss(const VectorXd& residuals) {
  return (2 * kKnee * kKnee * ((1 + (residuals.array() / kKnee).square()).sqrt() - 1)).sum();
}

Solution minimize(const std::vector<Unknown>& unknowns, const Residuals& residuals, int most_rounds) {
  const auto n = static_cast<Eigen::Index>(unknowns.size());
  VectorXd x(n), r;
  for (Eigen::Index i = 0; i < n; ++i) x[i] = unknowns[static_cast<std::size_t>(i)].start;
  x = inside(unknowns, x);
  if (!residuals(x, r)) return {x, std::numeric_limits<double>::infinity(), 0};
  Solution best{x, loss_of(unknowns, x, r), 0};
  MatrixXd j(r.size(), n);
  double damping = 1e-2;
  for (; best.rounds < most_rounds && damping < 1e8; ++best.rounds) {
    if (!jacobian(unknowns, residuals, best.x, r, j)) break;
    const VectorXd weight = (1 + (r.array() / kKnee).square()).sqrt().inverse();
    MatrixXd normal = j.transpose() * weight.asDiagonal() * j;
    VectorXd slope = j.transpose() * (weight.array() * r.array()).matrix();
    for (Eigen::Index i = 0; i < n; ++i) {
      const Unknown& u = unknowns[static_cast<std::size_t>(i)];
      normal(i, i) += 1 / (u.spread * u.spread);
      slope[i] += (best.x[i] - u.prior) / (u.spread * u.spread);
    }
    const double before = best.loss;
    bool better = false;
    while (!better && damping < 1e8) {
      MatrixXd damped = normal;
      damped.diagonal() *= 1 + damping;
      const VectorXd step = damped.ldlt().solve(-slope);
      const VectorXd next = inside(unknowns, best.x + step.cwiseMax(-1.0).cwiseMin(1.0));
      VectorXd there;
      const double loss =
          residuals(next, there) ? loss_of(unknowns, next, there) : std::numeric_limits<double>::infinity();
      better = loss < best.loss;
      damping = better ? std::max(damping / 5, 1e-9) : damping * 4;
      if (better) best.x = next, best.loss = loss, r = there;
    }
    if (!better || before - best.loss < 1e-5 * before) break;
  }
  return best;
}

}  // namespace rightsize::fit
