import DNSMessage
import DNSSD
import MulticastEngine
import Testing

@Suite("A trial of a link")
struct LinkTrialTests {
    private let eth0 = NetworkInterface(index: 2, name: "eth0")
    private let own = IPAddress.v4(IPv4Address(bits: 0x0A4D_0002))
    private let other = IPAddress.v4(IPv4Address(bits: 0x0A4D_0001))

    @Test("asks for types, this machine and its neighbours, from both ports")
    func questions() throws {
        var trial = LinkTrial(own: [own], neighbours: [other])
        let packets = trial.questions(at: .zero)
        #expect(packets.map(\.path) == [.group, .shared])
        let messages = try packets.map { try Message(reading: $0.bytes) }
        for message in messages {
            #expect(
                message.questions.map(\.name.description) == [
                    "_services._dns-sd._udp.local.", "2.0.77.10.in-addr.arpa.", "1.0.77.10.in-addr.arpa.",
                ])
        }
        // They hold back no one's answer.
        #expect(messages.allSatisfy { $0.answers.isEmpty })
        #expect(trial.questions(at: .milliseconds(299)).isEmpty)
        #expect(trial.questions(at: .milliseconds(300)).count == 2)
        #expect(!trial.isOver(at: .milliseconds(2599)) && trial.isOver(at: .milliseconds(2600)))
    }

    @Test("what was heard, and how: this machine, others through the group, others directly")
    func heard() throws {
        let types = try DomainName(presentation: "_services._dns-sd._udp.local")
        let answer = ResourceRecord(types, .ptr, .ptr(try DomainName(presentation: "_http._tcp.local")), ttl: 120)
        var trial = LinkTrial(own: [own], neighbours: [])
        func receive(_ flags: Message.Flags, _ sender: IPAddress, _ way: Arrival.Way) {
            trial.received(
                Message(flags: flags, answers: flags == .response ? [answer] : []),
                Arrival(from: sender, on: eth0, way, place: sender == own ? .here : .link), at: .zero)
        }
        receive([], own, .own)
        #expect(trial.isEchoed && !trial.hasOwnAnswer)
        receive(.response, own, .own)
        #expect(trial.hasOwnAnswer && trial.group.isEmpty)
        receive([], other, .group)
        #expect(trial.group == [other] && trial.answering.isEmpty && trial.direct.isEmpty)
        trial.received(Message(flags: .response), Arrival(from: other, on: eth0, .group), at: .zero)
        #expect(trial.answering.isEmpty, "an announcement of something else")
        receive(.response, other, .group)
        receive(.response, other, .answer)
        receive(.response, own, .answer)
        #expect(trial.answering == [other] && trial.direct == [other])
    }

    @Test("where others are not asked for, this machine's answer ends it")
    func alone() {
        var trial = LinkTrial(own: [own], neighbours: nil)
        #expect(!trial.isOver(at: .milliseconds(10)))
        trial.received(Message(flags: .response), Arrival(from: own, on: eth0, .own), at: .zero)
        #expect(trial.isOver(at: .milliseconds(10)))
        var mute = LinkTrial(own: [], neighbours: nil)
        mute.received(Message(flags: []), Arrival(from: own, on: eth0, .own), at: .zero)
        #expect(mute.isOver(at: .milliseconds(10)), "no responder is here")
    }
}
