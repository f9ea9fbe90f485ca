// A run of several ranks: rank 0 decides what comes next and sends it to the others.
#include "data/schema_json.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "io/file/sha256.h"
#include "parallel/communicator.h"
#include "train/run/run_loop.h"

namespace engine {

/// A text with sizes, fields and the first batch of the training part, to be equal on all ranks.
void RunLoop::check_same_data() const {
    const Schema& fields = data_.train.data->schema();
    nlohmann::ordered_json told{{"train", data_.train.size()},
                                {"test", data_.test.size()},
                                {"validation", data_.validation.size()}};
    for (const FieldSpec& field : fields.fields) told["fields"].push_back(field);
    Batch batch;
    Collator(data_.train, fields, training_options()).make(batch, 0, 0);
    for (const BatchField& field : batch.fields)
        told["batch"].push_back(sha256_of(std::span<const std::byte>(field.bytes)));
    // Classes have the names of folders, which may be any bytes.
    require_same(*ranks_, dumped(told), [rank = ranks_->rank()](const std::string&) {
        return msg("Rank {} has another data set than rank 0.", rank);
    });
}

void RunLoop::cut_batches(LoaderOptions& options) const {
    if (!ranks_) return;
    options.rank = ranks_->rank();
    options.ranks = ranks_->size();
}

void RunLoop::tell(Turn turn) const {
    if (!ranks_ || follows()) return;
    ranks_->broadcast({&turn, kernels::DType::i64, 1});
}

RunLoop::Turn RunLoop::received() const {
    Turn turn{};
    ranks_->broadcast({&turn, kernels::DType::i64, 1});
    return turn;
}

/// Each rank decodes its own rows alone, and a count that nobody reads before the next checkpoint
/// or the end is not worth an exchange a step. All ranks call it, with no step in flight.
void RunLoop::sum_replaced() {
    if (!data_.train.data->skips_damaged()) return;
    std::int64_t count = std::exchange(replaced_here_, 0);
    if (ranks_) ranks_->sum({&count, kernels::DType::i64, 1});
    progress_.replaced += count;
}

void RunLoop::follow() {
    while (true) {
        switch (received()) {
            case Turn::step:
                train_step();
                break;
            case Turn::begin_evaluation:
                begin_evaluation();
                break;
            case Turn::evaluate:
                evaluate_some();
                break;
            case Turn::save:
                gathered_state();
                break;
            case Turn::count:
                sum_replaced();
                break;
            case Turn::end:
                return;
        }
    }
}

void RunLoop::leave(const std::string& failure) {
    if (!ranks_ || follows() || std::exchange(left_, true)) return;
    // Ranks that are still preparing do not receive orders yet.
    if (!failure.empty() || !rules_)
        return ranks_->abort(failure.empty() ? "The run was stopped before it began." : failure);
    try {
        if (failure.empty() && data_.train.data->skips_damaged()) {
            tell(Turn::count);
            sum_replaced();
        }
        tell(Turn::end);
    } catch (const Error&) {  // a lost rank needs no order
    }
}

}  // namespace engine
