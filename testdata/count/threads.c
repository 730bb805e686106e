/* A program whose counts depend on how long one thread waits for another. */
#include <pthread.h>

static volatile int ready;

static void *set(void *unused)
{
	ready = 1;
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, set, NULL))
		return 1;
	while (!ready)
		;
	return pthread_join(thread, NULL);
}
