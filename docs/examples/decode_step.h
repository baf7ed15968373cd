/* A small decode step and its right answer: what the example servers compute. Host memory only. */
#ifndef DECODE_STEP_H
#define DECODE_STEP_H

#include <math.h>
#include <mlaforge/kernel_contract.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 12, SLOTS = 4096 };

/* Query length 1, page size 1: entry t of a request's run of the page table is the slot of its token t. */
struct decode_step {
  int32_t requests;
  int32_t longest;
  int32_t* seq_len;    /* [requests] */
  int32_t* page_table; /* [requests, longest] */
  uint16_t* q;         /* [requests, HEADS, 576] bf16 */
  uint8_t* kv;         /* [SLOTS, 576] E4M3 */
};

static float bf16_value(uint16_t bits) {
  const uint32_t word = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &word, sizeof(value));
  return value;
}

static uint16_t bf16_bits(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof(word));
  return (uint16_t)(word >> 16);
}

/* E4M3: sign, four bits of exponent with bias 7, three of mantissa. */
static float e4m3_value(uint8_t bits) {
  const int exponent = bits >> 3 & 15;
  const float magnitude =
      exponent == 0 ? ldexpf((float)(bits & 7), -9) : ldexpf((float)(8 + (bits & 7)), exponent - 10);
  return bits >> 7 ? -magnitude : magnitude;
}

/* Requests of these lengths, with values from a fixed sequence and slots all over the cache. */
static struct decode_step make_step(const int32_t* lengths, int32_t requests) {
  struct decode_step step = {requests, 1, NULL, NULL, NULL, NULL};
  uint32_t random = 1;
  for (int32_t r = 0; r < requests; ++r) step.longest = lengths[r] > step.longest ? lengths[r] : step.longest;
  step.seq_len = (int32_t*)malloc(sizeof(int32_t) * (size_t)requests);
  step.page_table = (int32_t*)malloc(sizeof(int32_t) * (size_t)requests * (size_t)step.longest);
  step.q = (uint16_t*)malloc(sizeof(uint16_t) * (size_t)requests * HEADS * MLAFORGE_KEY_DIM);
  step.kv = (uint8_t*)malloc((size_t)SLOTS * MLAFORGE_KEY_DIM);
  memcpy(step.seq_len, lengths, sizeof(int32_t) * (size_t)requests);
  for (int32_t i = 0; i < requests * step.longest; ++i) step.page_table[i] = (i * 1237 + 11) % SLOTS;
  for (int32_t i = 0; i < requests * HEADS * MLAFORGE_KEY_DIM; ++i) {
    random = random * 1664525u + 1013904223u;
    step.q[i] = bf16_bits((float)(random >> 8) / (float)(1 << 23) - 1.0f);
  }
  for (int32_t i = 0; i < SLOTS * MLAFORGE_KEY_DIM; ++i) {
    random = random * 1664525u + 1013904223u;
    step.kv[i] = (uint8_t)((random >> 24 & 0x80) | (random >> 16) % 0x38); /* below 1.0 */
  }
  return step;
}

static void free_step(struct decode_step* step) {
  free(step->seq_len);
  free(step->page_table);
  free(step->q);
  free(step->kv);
}

/* The right output of one request's head, in double. */
static void attend(const struct decode_step* step, float softmax_scale, int32_t request, int32_t head, double* o) {
  const uint16_t* q = step->q + ((size_t)request * HEADS + (size_t)head) * MLAFORGE_KEY_DIM;
  double sum = 0;
  for (int c = 0; c < MLAFORGE_LATENT_DIM; ++c) o[c] = 0;
  for (int32_t t = 0; t < step->seq_len[request]; ++t) {
    const uint8_t* row = step->kv + (size_t)step->page_table[request * step->longest + t] * MLAFORGE_KEY_DIM;
    double logit = 0;
    for (int c = 0; c < MLAFORGE_KEY_DIM; ++c) logit += (double)bf16_value(q[c]) * (double)e4m3_value(row[c]);
    const double weight = exp(logit * (double)softmax_scale); /* logits are small: no maximum is needed */
    sum += weight;
    for (int c = 0; c < MLAFORGE_LATENT_DIM; ++c) o[c] += weight * (double)e4m3_value(row[c]);
  }
  for (int c = 0; c < MLAFORGE_LATENT_DIM; ++c) o[c] /= sum;
}

/* The largest error of [requests, HEADS, 512] bf16, each row's by its largest value. Kernels keep it below 2^-7. */
static double worst_error(const struct decode_step* step, float softmax_scale, const uint16_t* o) {
  double worst = 0;
  for (int32_t row = 0; row < step->requests * HEADS; ++row) {
    double right[MLAFORGE_LATENT_DIM], largest = 0, error = 0;
    attend(step, softmax_scale, row / HEADS, row % HEADS, right);
    for (int c = 0; c < MLAFORGE_LATENT_DIM; ++c) {
      const double off = fabs((double)bf16_value(o[(size_t)row * MLAFORGE_LATENT_DIM + (size_t)c]) - right[c]);
      error = off > error || isnan(off) ? off : error;
      largest = fabs(right[c]) > largest ? fabs(right[c]) : largest;
    }
    if (!(error / largest <= worst)) worst = error / largest;
  }
  return worst;
}

#endif
