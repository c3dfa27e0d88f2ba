#pragma once

#include "examples/forms/sequence_model.h"

/// What a trained form attends to, and a page of heat maps of several forms.
namespace program {

/// The weights of the last layer for one sequence, ids [1, T].
struct Attended {
  heed::Tensor weights;    ///< [H, T, T], or [1, T, T] if the form has no weights
  bool of_inputs = false;  ///< no weights: the influence of each input, see input_influence
};
Attended what_is_attended(const SequenceModel& model, const heed::Tensor& ids);

/// The influence of input j on output i of self-attention, for forms without weights: the norm of the
/// derivative d y_i / d x_j, divided by the sum over j so that each row sums to 1. The norm is estimated from
/// its products with `samples` random vectors of signs.
///
///   attention   causal
///   x           [1, T, E]
///   returns     [1, T, T]
heed::Tensor input_influence(const heed::MultiheadAttention& attention, const heed::Tensor& x,
                             int64_t samples = 8);

/// A heat map, whose title is the form.
struct AttendedPicture {
  std::string task, svg;
};

/// The heat map of one sequence, ids [1, T]; of all heads together their mean.
AttendedPicture attended_picture(const SequenceModel& model, const Form& form, const Task& task,
                                 const heed::Tensor& ids);

/// An HTML page in which the heat maps of each task are side by side. It is one file and makes no network
/// requests.
std::string attended_page(const std::vector<AttendedPicture>& pictures);

}  // namespace program
