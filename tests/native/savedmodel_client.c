/* Runs a SavedModel on texts through TensorFlow's C API, without Python.
 *
 * usage: savedmodel_client SAVED_MODEL TEXTS [-l LIBRARY]...
 *                          -s INPUT OUTPUT... [-s INPUT OUTPUT...]...
 *
 * TEXTS is a file of texts, each an 8-byte length in the machine's byte order
 * and that many bytes. LIBRARY is a library of ops that the graph calls. Each
 * -s is a run: INPUT and OUTPUT are tensor names of one signature, such as
 * "serving_default_text:0". Every output is printed as a line "TYPE
 * DIMENSION..." and a line of its values: floats with 9 significant digits,
 * strings as "x" and hexadecimal bytes.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/tf_tstring.h"

enum { MAX_OUTPUTS = 8 };

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

/* Runs one signature; returns the index of the next -s or of the end. */
static int run(TF_Session *session, TF_Graph *graph, TF_Tensor *texts,
               int argc, char **argv, int next) {
  if (next + 1 >= argc) fail("usage", "-s takes INPUT OUTPUT...");
  TF_Output input = find(graph, argv[next++]);
  TF_Output outputs[MAX_OUTPUTS];
  TF_Tensor *results[MAX_OUTPUTS] = {NULL};
  int count = 0;
  for (; next < argc && strcmp(argv[next], "-s") != 0; next++) {
    if (count == MAX_OUTPUTS) fail("usage", "too many outputs");
    outputs[count++] = find(graph, argv[next]);
  }
  TF_Status *status = TF_NewStatus();
  TF_SessionRun(session, NULL, &input, &texts, 1, outputs, results, count,
                NULL, 0, NULL, status);
  check(status, "TF_SessionRun");
  TF_DeleteStatus(status);
  for (int i = 0; i < count; i++) {
    print_tensor(results[i]);
    TF_DeleteTensor(results[i]);
  }
  return next;
}

int main(int argc, char **argv) {
  if (argc < 3) fail("usage", "SAVED_MODEL TEXTS [-l LIBRARY]... -s ...");
  TF_Status *status = TF_NewStatus();
  int next = 3;
  for (; next + 1 < argc && strcmp(argv[next], "-l") == 0; next += 2) {
    TF_LoadLibrary(argv[next + 1], status);
    check(status, argv[next + 1]);
  }

  TF_Graph *graph = TF_NewGraph();
  TF_SessionOptions *options = TF_NewSessionOptions();
  const char *tags[] = {"serve"};
  TF_Session *session = TF_LoadSessionFromSavedModel(
      options, NULL, argv[1], tags, 1, graph, NULL, status);
  check(status, argv[1]);

  TF_Tensor *texts = read_texts(argv[2]);
  while (next < argc && strcmp(argv[next], "-s") == 0)
    next = run(session, graph, texts, argc, argv, next + 1);
  if (next < argc) fail(argv[next], "is no argument that is known");

  TF_DeleteTensor(texts);
  TF_CloseSession(session, status);
  TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  return 0;
}
