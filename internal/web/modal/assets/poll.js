// Polls with growing pauses.
import { Refused, isTrouble } from "./api.js";

const pauses = [300, 700, 1000, 1500, 2000, 3000, 4000, 5000];

// poll repeats a request until the response is sufficient, and returns it. It returns null after the time limit, or if the
// service rejects the request permanently. After any other error it retries. slow is called if it takes longer than people
// expect.
export async function poll(ask, enough, { limit = 120000, slow } = {}) {
  const began = performance.now();
  let announced = false;
  for (let i = 0; performance.now() - began < limit; i++) {
    try {
      const answer = await ask();
      if (enough(answer)) return answer;
    } catch (error) {
      if (error instanceof Refused && !isTrouble(error)) return null;
    }
    if (!announced && performance.now() - began > 8000) {
      announced = true;
      slow?.();
    }
    await new Promise((resolve) => setTimeout(resolve, pauses[Math.min(i, pauses.length - 1)]));
  }
  return null;
}
