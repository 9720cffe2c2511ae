/* Asks a SavedModel about a text through TensorFlow's C API.
 *
 * usage: served_text SAVED_MODEL INPUT OUTPUT TEXT LIBRARY...
 *
 * INPUT and OUTPUT are names of operations with an index, such as "name:0",
 * and LIBRARY is one of ops that the graph calls. Reads and answers lines as
 * the Python worker beside it does: "infer 3" asks three times.
 */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/tf_tstring.h"

static TF_Status *status;

static void check(const char *what) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s: %s\n", what, TF_Message(status));
  exit(1);
}

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static TF_Output find(TF_Graph *graph, char *name) {
  char *colon = strrchr(name, ':');
  if (colon) *colon = 0;
  TF_Output found = {TF_GraphOperationByName(graph, name),
                     colon ? atoi(colon + 1) : 0};
  if (!found.oper) {
    fprintf(stderr, "%s is not in the graph\n", name);
    exit(1);
  }
  return found;
}

static void free_text(void *data, size_t size, void *unused) {
  (void)size, (void)unused;
  TF_TString_Dealloc(data);
  free(data);
}

static TF_Tensor *text_tensor(const char *text) {
  int64_t rows = 1;
  TF_TString *string = malloc(sizeof *string);
  if (!string) exit(1);
  TF_TString_Init(string);
  TF_TString_Copy(string, text, strlen(text));
  return TF_NewTensor(TF_STRING, &rows, 1, string, sizeof *string, free_text,
                      NULL);
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  status = TF_NewStatus();
  for (int i = 5; i < argc; i++) {
    TF_LoadLibrary(argv[i], status);
    check(argv[i]);
  }
  TF_Graph *graph = TF_NewGraph();
  const char *tags[] = {"serve"};
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_Session *session = TF_LoadSessionFromSavedModel(
      options, NULL, argv[1], tags, 1, graph, NULL, status);
  check(argv[1]);
  TF_Output input = find(graph, argv[2]), output = find(graph, argv[3]);
  printf("{\"version\": \"TensorFlow's C API %s\"}\n", TF_Version());
  fflush(stdout);

  char name[32];
  int count;
  while (scanf("%31s %d", name, &count) == 2) {
    double started = seconds(CLOCK_MONOTONIC);
    double used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    float first = 0;
    for (int i = 0; i < count; i++) {
      /* A text of its own for each question, as they come. */
      TF_Tensor *text = text_tensor(argv[4]), *answer = NULL;
      TF_SessionRun(session, NULL, &input, &text, 1, &output, &answer, 1, NULL,
                    0, NULL, status);
      check("TF_SessionRun");
      first = *(float *)TF_TensorData(answer);
      TF_DeleteTensor(text);
      TF_DeleteTensor(answer);
    }
    started = seconds(CLOCK_MONOTONIC) - started;
    used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"seconds\": %.9f, \"processor\": %.9f, \"peak_mib\": %.1f, "
           "\"result\": %.6f}\n",
           started, used, (double)usage.ru_maxrss / 1024, first);
    fflush(stdout);
  }
  return 0;
}
