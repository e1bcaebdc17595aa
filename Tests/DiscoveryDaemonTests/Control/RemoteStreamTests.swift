import DiscoverySystem
import Glibc
import Testing

@testable import DiscoveryControl

@Suite("A stream of the daemon's lines") struct RemoteStreamTests {
    @Test("where the system has no thread, that is the first word") func noThread() async {
        let place = ControlPlace(path: "/nowhere")
        let stream = Locked<RemoteStream?>(nil)
        let word: String? = await withCheckedContinuation { continuation in
            let made = RemoteStream(Pulse(place), ControlClient.Request("GET", "/v1/backend/watch")) { event in
                stream.exchange(nil)?.cancel()
                if case .disconnected(let reason) = event {
                    continuation.resume(returning: reason)
                } else {
                    continuation.resume(returning: nil)
                }
            }
            _ = stream.exchange(made)
            made.start(on: { _ in EAGAIN })
        }
        #expect(word == "the system has no thread")
    }
}
