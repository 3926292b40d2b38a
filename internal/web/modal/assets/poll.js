// Asking again and again, with growing pauses.

const pauses = [300, 700, 1000, 1500, 2000, 3000, 4000, 5000];

// poll asks until the answer is enough, and gives it; null when the time is over. What goes wrong on the way is asked again.
// slow is called once it takes longer than people expect.
export async function poll(ask, enough, { limit = 120000, slow } = {}) {
  const began = performance.now();
  let told = false;
  for (let i = 0; performance.now() - began < limit; i++) {
    const answer = await ask().catch(() => null);
    if (answer && enough(answer)) return answer;
    if (!told && performance.now() - began > 8000) {
      told = true;
      slow?.();
    }
    await new Promise((resolve) => setTimeout(resolve, pauses[Math.min(i, pauses.length - 1)]));
  }
  return null;
}
