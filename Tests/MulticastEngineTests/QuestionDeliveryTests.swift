import Libc
import MulticastEngine
import Testing

@Suite("What becomes of questions that are sent")
struct QuestionDeliveryTests {
    @Test("a refusal is told at once, a link's that goes away the second time, never that of an address being checked")
    func told() {
        for (errno, first, second) in [
            (EPERM, EPERM, EPERM), (ENETUNREACH, nil, ENETUNREACH), (ENODEV, nil, ENODEV), (EADDRNOTAVAIL, nil, nil),
        ] as [(Int32, Int32?, Int32?)] {
            var delivery = QuestionDelivery.sent
            #expect(delivery.note([errno, errno]) && delivery.refusal == errno && delivery.trouble == first)
            #expect(delivery.note([errno]) && delivery.trouble == second)
            #expect(!delivery.note([0]) && delivery == .sent && delivery.trouble == nil)
            #expect(delivery.note([errno]) && delivery.trouble == first)
        }
    }

    @Test("over one family is in part; eight refusals in a row are repeated soon, no more")
    func repeated() {
        var delivery = QuestionDelivery.sent
        #expect(!delivery.note([0, EPERM]) && delivery == .sentInPart && delivery.refusal == nil)
        #expect((0..<12).count { _ in delivery.note([EPERM]) } == 8)
    }
}
