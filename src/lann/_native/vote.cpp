// Shares of neighbors in a mean of votes, and the losses of the vote, which training and streams call from C++.
#include "vote.hpp"

#include <vector>

namespace lann {

static double vote_loss(LossRule rule, Floats distances, ConstIndices labels, Index label, ConstFloats weights,
                        double weight, Floats slopes) {
    const Index n_near = distances.size();
    require(labels.size() == n_near && weights.size() == n_near && slopes.size() == n_near, "neighbors");
    std::vector<double> scores(rule.n_classes);
    return weighted_loss(rule, distances.data, labels.data, label, n_near, weights.data, weight, slopes.data,
                         scores.data());
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
