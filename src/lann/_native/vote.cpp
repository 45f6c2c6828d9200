// Shares of neighbors in a mean of votes, and the losses of the vote, which training and streams call from C++.
#include "vote.hpp"

#include <vector>

namespace lann {

// The loss of a query, which is the last of the targets, and its slopes; the others are those of its neighbors.
static double vote_loss(LossRule rule, ConstFloats distances, Targets targets, Floats slopes) {
    const Index n_near = distances.size();
    require(targets.are_of(n_near + 1) && slopes.size() == n_near && rule.n_neighbors == n_near, "neighbors");
    Near near(rule);
    std::copy_n(distances.data, n_near, near.distances.begin());
    for (Index j = 0; j < n_near; ++j) {
        near.labels[j] = targets.labels[j];
        near.values[j] = targets.value(j);
        near.weights[j] = targets.weights[j];
    }
    const double loss = near.weighted_loss(rule, targets.labels[n_near], targets.value(n_near), targets.weights[n_near], n_near);
    std::copy_n(near.slopes.begin(), n_near, slopes.data);
    return loss;
}

// The share of each neighbor in a weighted mean of votes: see `MeanVote`.
//
// ratios, factors, counts, shares : (n_queries, k)
static void mean_vote(ConstFloats2 ratios, ConstFloats2 factors, ConstFloats2 counts, ConstFloats2 votes,
                      Floats2 shares) {
    const Index k = ratios.size(1);
    require(factors.shape == ratios.shape && counts.shape == ratios.shape && shares.shape == ratios.shape, "neighbors");
    const MeanVote vote(votes);
    std::vector<double> supports(k);
    for (Index query = 0; query < ratios.size(0) && k > 0; ++query)
        vote.share(ratios[query].data, factors[query].data, counts[query].data, k, supports.data(), shares[query].data);
}

void bind_vote(nb::module_ &m) {
    def(m, "vote_loss", &vote_loss);
    def(m, "mean_vote", &mean_vote);
}

}  // namespace lann
