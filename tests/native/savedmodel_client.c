/* Runs a SavedModel on texts through TensorFlow's C API, without Python.
 *
 * usage: savedmodel_client SAVED_MODEL [-l LIBRARY]... [-t THREADS]
 *          [-n NEWER] -s INPUT=TEXTS... OUTPUT... [-s ...]...
 *
 * Each -s is a run of one signature: tensor names such as
 * "serving_default_text:0", for the inputs with a file of texts, each an
 * 8-byte length in the machine's byte order and that many bytes. LIBRARY is a
 * library of ops that the graph calls. Every output is printed as a line "TYPE
 * DIMENSION..." and a line of its values: floats with 9 significant digits,
 * strings as "x" and hexadecimal bytes.
 *
 * With -t all runs are repeated in that many threads at once, and each must
 * give the answers of the first time. With -n they go on until the folder
 * NEWER is there, which is loaded beside them at once and run as well.
 */

#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/tf_tstring.h"

enum { MAX_TENSORS = 8, MAX_RUNS = 4, MAX_THREADS = 16, WAIT_SECONDS = 120 };

/* What to run: the names and texts of a -s. */
struct request {
  char *inputs[MAX_TENSORS];
  TF_Tensor *texts[MAX_TENSORS];
  char *outputs[MAX_TENSORS];
  int input_count, output_count;
};

struct model {
  TF_Graph *graph;
  TF_Session *session;
};

static struct request requests[MAX_RUNS];
static int request_count;
static TF_Tensor *expected[MAX_RUNS][MAX_TENSORS];
static atomic_int stop;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void check(const TF_Status *status, const char *what) {
  if (TF_GetCode(status) != TF_OK) fail(what, TF_Message(status));
}

static void *allocate(size_t size) {
  void *memory = malloc(size ? size : 1);
  if (!memory) fail("malloc", "out of memory");
  return memory;
}

static void free_strings(void *data, size_t size, void *unused) {
  (void)unused;
  TF_TString *strings = data;
  for (size_t i = 0; i < size / sizeof *strings; i++)
    TF_TString_Dealloc(&strings[i]);
  free(data);
}

static TF_Tensor *read_texts(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail(path, "cannot be read");
  TF_TString *strings = NULL;
  int64_t rows = 0;
  uint64_t length;
  while (fread(&length, sizeof length, 1, file) == 1) {
    char *bytes = allocate(length);
    if (fread(bytes, 1, length, file) != length) fail(path, "ends too early");
    strings = realloc(strings, (size_t)(rows + 1) * sizeof *strings);
    if (!strings) fail("realloc", "out of memory");
    TF_TString_Init(&strings[rows]);
    TF_TString_Copy(&strings[rows], bytes, length);
    free(bytes);
    rows++;
  }
  fclose(file);
  if (!strings) strings = allocate(0);
  return TF_NewTensor(TF_STRING, &rows, 1, strings,
                      (size_t)rows * sizeof *strings, free_strings, NULL);
}

static TF_Output find(TF_Graph *graph, const char *tensor) {
  const char *colon = strrchr(tensor, ':');
  if (!colon) fail(tensor, "is no tensor name");
  char name[256];
  snprintf(name, sizeof name, "%.*s", (int)(colon - tensor), tensor);
  TF_Output output = {TF_GraphOperationByName(graph, name), atoi(colon + 1)};
  if (!output.oper) fail(tensor, "is not in the graph");
  return output;
}

static void print_tensor(const TF_Tensor *tensor) {
  int is_float = TF_TensorType(tensor) == TF_FLOAT;
  if (!is_float && TF_TensorType(tensor) != TF_STRING)
    fail("output", "is neither of floats nor of strings");
  printf("%s", is_float ? "float32" : "string");
  for (int i = 0; i < TF_NumDims(tensor); i++)
    printf(" %lld", (long long)TF_Dim(tensor, i));
  printf("\n");
  const float *floats = TF_TensorData(tensor);
  const TF_TString *strings = TF_TensorData(tensor);
  for (int64_t i = 0; i < TF_TensorElementCount(tensor); i++) {
    if (is_float) {
      printf("%.9g ", floats[i]);
      continue;
    }
    const char *bytes = TF_TString_GetDataPointer(&strings[i]);
    printf("x");
    for (size_t k = 0; k < TF_TString_GetSize(&strings[i]); k++)
      printf("%02x", (unsigned char)bytes[k]);
    printf(" ");
  }
  printf("\n");
}

static struct model load(const char *folder) {
  struct model model = {TF_NewGraph(), NULL};
  TF_Status *status = TF_NewStatus();
  TF_SessionOptions *options = TF_NewSessionOptions();
  const char *tags[] = {"serve"};
  model.session = TF_LoadSessionFromSavedModel(options, NULL, folder, tags, 1,
                                               model.graph, NULL, status);
  check(status, folder);
  TF_DeleteSessionOptions(options);
  TF_DeleteStatus(status);
  return model;
}

static void unload(struct model model) {
  TF_Status *status = TF_NewStatus();
  TF_CloseSession(model.session, status);
  TF_DeleteSession(model.session, status);
  TF_DeleteGraph(model.graph);
  TF_DeleteStatus(status);
}

static void run(struct model model, const struct request *request,
                TF_Tensor **results) {
  TF_Output inputs[MAX_TENSORS], outputs[MAX_TENSORS];
  for (int i = 0; i < request->input_count; i++)
    inputs[i] = find(model.graph, request->inputs[i]);
  for (int i = 0; i < request->output_count; i++)
    outputs[i] = find(model.graph, request->outputs[i]);
  TF_Status *status = TF_NewStatus();
  TF_SessionRun(model.session, NULL, inputs, request->texts,
                request->input_count, outputs, results, request->output_count,
                NULL, 0, NULL, status);
  check(status, "TF_SessionRun");
  TF_DeleteStatus(status);
}

static void compare(const TF_Tensor *tensor, const TF_Tensor *reference) {
  int64_t count = TF_TensorElementCount(reference);
  if (TF_TensorElementCount(tensor) != count)
    fail("thread", "got an answer of another size");
  const float *floats = TF_TensorData(tensor);
  const float *reference_floats = TF_TensorData(reference);
  const TF_TString *strings = TF_TensorData(tensor);
  const TF_TString *reference_strings = TF_TensorData(reference);
  for (int64_t i = 0; i < count; i++) {
    if (TF_TensorType(reference) == TF_FLOAT) {
      if (!(fabsf(floats[i] - reference_floats[i]) <= 1e-6f))
        fail("thread", "got another number");
      continue;
    }
    size_t size = TF_TString_GetSize(&reference_strings[i]);
    if (TF_TString_GetSize(&strings[i]) != size ||
        memcmp(TF_TString_GetDataPointer(&strings[i]),
               TF_TString_GetDataPointer(&reference_strings[i]), size) != 0)
      fail("thread", "got another string");
  }
}

static void *repeat(void *argument) {
  struct model *model = argument;
  TF_Tensor *results[MAX_TENSORS] = {NULL};
  do {
    for (int i = 0; i < request_count; i++) {
      run(*model, &requests[i], results);
      for (int k = 0; k < requests[i].output_count; k++) {
        compare(results[k], expected[i][k]);
        TF_DeleteTensor(results[k]);
      }
    }
  } while (!atomic_load(&stop));
  return NULL;
}

static void print_answers(struct model model) {
  TF_Tensor *results[MAX_TENSORS] = {NULL};
  for (int i = 0; i < request_count; i++) {
    run(model, &requests[i], results);
    for (int k = 0; k < requests[i].output_count; k++) {
      print_tensor(results[k]);
      if (!expected[i][k])
        expected[i][k] = results[k];
      else
        TF_DeleteTensor(results[k]);
    }
  }
  fflush(stdout);
}

static void run_newer(const char *folder) {
  const struct timespec pause = {0, 1000 * 1000};
  time_t end = time(NULL) + WAIT_SECONDS;
  while (access(folder, F_OK) != 0) {
    if (time(NULL) > end) fail(folder, "does not appear");
    nanosleep(&pause, NULL);
  }
  struct model newer = load(folder);
  print_answers(newer);
  unload(newer);
}

int main(int argc, char **argv) {
  if (argc < 2) fail("usage", "SAVED_MODEL [-l LIBRARY]... -s ...");
  TF_Status *status = TF_NewStatus();
  int thread_count = 0;
  const char *newer = NULL;
  struct request *request = NULL;
  for (int next = 2; next < argc; next++) {
    char *argument = argv[next];
    char *file = strchr(argument, '=');
    if (strcmp(argument, "-s") == 0) {
      if (request_count == MAX_RUNS) fail("usage", "too many -s");
      request = &requests[request_count++];
    } else if (argument[0] == '-' && next + 1 < argc) {
      char *value = argv[++next];
      if (argument[1] == 'l') TF_LoadLibrary(value, status);
      else if (argument[1] == 't') thread_count = atoi(value);
      else if (argument[1] == 'n') newer = value;
      else fail(argument, "is no argument that is known");
      check(status, value);
    } else if (!request) {
      fail(argument, "comes before -s");
    } else if (request->input_count == MAX_TENSORS ||
               request->output_count == MAX_TENSORS) {
      fail("usage", "too many tensors");
    } else if (file) {
      *file = 0;
      request->inputs[request->input_count] = argument;
      request->texts[request->input_count++] = read_texts(file + 1);
    } else {
      request->outputs[request->output_count++] = argument;
    }
  }
  TF_DeleteStatus(status);
  if (thread_count > MAX_THREADS) fail("usage", "too many threads");

  struct model model = load(argv[1]);
  print_answers(model);
  pthread_t threads[MAX_THREADS];
  atomic_store(&stop, newer == NULL);
  for (int i = 0; i < thread_count; i++)
    if (pthread_create(&threads[i], NULL, repeat, &model) != 0)
      fail("pthread_create", "no thread");
  if (newer) run_newer(newer);
  atomic_store(&stop, 1);
  for (int i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
  unload(model);
  for (int i = 0; i < request_count; i++) {
    for (int k = 0; k < requests[i].output_count; k++)
      TF_DeleteTensor(expected[i][k]);
    for (int k = 0; k < requests[i].input_count; k++)
      TF_DeleteTensor(requests[i].texts[k]);
  }
  return 0;
}
