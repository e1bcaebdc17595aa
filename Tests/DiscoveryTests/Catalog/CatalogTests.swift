import DNSSD
import Discovery
import Testing

@Suite struct CatalogTests {
    @Test func pathsOfOneServiceAreToldOnceWithAllAddresses() throws {
        var story = CatalogStory(try typeQuery())
        let seen = story.tell(
            .appeared(try sighting("tony", eth0, .ipv4)),
            .appeared(try sighting("tony", eth0, .ipv6)),
            .appeared(try sighting("tony", eth1)),
            .resolved(try resolution("tony", eth0, ["10.0.0.7", "fe80::7%2"]))
        )
        #expect(seen == [])
        let told = story.tell(.resolved(try resolution("tony", eth1, ["10.0.1.7", "10.0.0.7"])))
        #expect(told.words == ["+tony"])
        let service = try #require(story.service("tony"))
        #expect(service.interfaces == [eth0, eth1])
        #expect(service.state == .resolved)
        #expect(
            service.endpoints.map(\.address) == [
                try address("10.0.0.7"), try address("10.0.1.7"), try address("fe80::7%2"),
            ]
        )
        #expect(service.endpoints.map(\.interface) == [eth0, eth1, eth0])
        #expect(story.tell(.listed).words == ["settled"])
    }

    @Test func subtypesAreThoseOfAllPathsAfterTheOneThatWasAskedFor() throws {
        var query = try typeQuery()
        query.target = .type(try ServiceType("_scan._sub._witap._tcp"), .local)
        var story = CatalogStory(query)
        for (interface, subtypes) in [(eth0, ["_a", "_Scan"]), (eth1, ["_a", "_b"])] {
            var resolution = try resolution("tony", interface)
            resolution.subtypes = subtypes
            _ = story.tell(.appeared(try sighting("tony", interface)), .resolved(resolution))
        }
        _ = story.wait(.seconds(2))
        #expect(story.service("tony")?.subtypes == ["_scan", "_a", "_b"])
    }

    @Test func whatDoesNotResolveIsToldAfterSixSeconds() throws {
        var story = CatalogStory(try typeQuery())
        #expect(story.tell(.appeared(try sighting("tony")), .listed) == [])
        #expect(story.wait(.milliseconds(5990)) == [])
        #expect(story.wait(.milliseconds(10)).words == ["+tony", "settled"])
        #expect(story.service("tony")?.state == .found)
        #expect(story.tell(.resolved(try resolution("tony"))).words == ["~tony"])
    }

    @Test func whatHasNoAddressIsFoundWithAllThatIsKnown() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(
            .appeared(try sighting("tony")), .resolved(try resolution("tony", txt: ["a": "b"], [])),
            .resolutionFailed(try instance("tony"), .link(eth0)))
        let service = try #require(story.service("tony"))
        #expect(service.state == .found && service.endpoints.isEmpty)
        #expect(service.host?.text == "h1.local" && service.port?.rawValue == 9000 && service.txt["a"] != nil)
        #expect(story.tell(.resolved(try resolution("tony"))).words == ["~tony"])
        #expect(story.service("tony")?.state == .resolved)
    }

    @Test func whatFailsToResolveIsToldAtOnceAndWhatStopsAnsweringIsUnreachable() throws {
        var story = CatalogStory(try typeQuery())
        #expect(
            story.tell(.appeared(try sighting("tony")), .resolutionFailed(try instance("tony"), .link(eth0))).words == [
                "+tony"
            ]
        )
        #expect(story.service("tony")?.state == .found)
        #expect(story.tell(.resolved(try resolution("tony"))).words == ["~tony"])
        #expect(story.tell(.resolutionFailed(try instance("tony"), .link(eth0))).words == ["~tony"])
        #expect(story.service("tony")?.state == .unreachable)
        #expect(story.service("tony")?.endpoints.count == 1)
        #expect(story.tell(.resolved(try resolution("tony"))).words == ["~tony"])
    }

    @Test func rfc6763Section8_port0HoldsANameWithoutOfferingAService() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony", port: 0)))
        #expect(story.service("tony")?.state == .unavailable)
        #expect(story.service("tony")?.endpoints == [])
    }

    @Test func whatOurOwnLinkHidesIsHeldForTenSeconds() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony")))
        #expect(story.tell(.hidden(try sighting("tony"))) == [])
        #expect(story.wait(.seconds(9)) == [])
        #expect(story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony"))) == [])
        #expect(story.tell(.hidden(try sighting("tony"))) == [])
        #expect(story.wait(.milliseconds(9990)) == [])
        #expect(story.wait(.milliseconds(10)).words == ["-tony"])
    }

    @Test func whatIsWithdrawnIsHeldForAMoment() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony")))
        #expect(story.tell(.withdrawn(try sighting("tony"))) == [])
        #expect(story.wait(.milliseconds(200)) == [])
        #expect(story.tell(.appeared(try sighting("tony"))) == [])
        #expect(story.wait(.seconds(20)) == [])
        #expect(story.tell(.withdrawn(try sighting("tony"))) == [])
        #expect(story.wait(.milliseconds(280)).words == ["-tony"])
    }

    @Test func anEndIsHeldBackAndThenToldOnce() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(
            .appeared(try sighting("tony", eth0, .ipv4)),
            .appeared(try sighting("tony", eth0, .ipv6)),
            .resolved(try resolution("tony"))
        )
        #expect(story.tell(.disappeared(try sighting("tony", eth0, .ipv4))) == [])
        #expect(story.wait(.seconds(10)) == [])
        #expect(story.tell(.disappeared(try sighting("tony", eth0, .ipv6))) == [])
        #expect(story.wait(.milliseconds(3090)) == [])
        #expect(story.wait(.milliseconds(10)).words == ["-tony"])
        #expect(story.wait(.seconds(100)) == [])
        #expect(story.catalog.nextDeadline == nil)
    }

    @Test func whatComesBackInTimeWasNeverGone() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony")))
        for _ in 0..<20 {
            #expect(story.tell(.disappeared(try sighting("tony"))) == [])
            #expect(story.wait(.seconds(3)) == [])
            #expect(story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony"))) == [])
        }
    }

    @Test func addressesThatALinkFlapTakesAwayAreHeld() throws {
        let all = ["10.0.0.7", "fe80::7%2"]
        var story = CatalogStory(try typeQuery())
        _ = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony", all)))
        #expect(
            story.tell(.resolved(try resolution("tony", ["fe80::7%2"])), .resolved(try resolution("tony", []))) == []
        )
        #expect(story.wait(.seconds(3)) == [])
        #expect(story.tell(.resolved(try resolution("tony", all))) == [])
        #expect(story.tell(.resolved(try resolution("tony", ["10.0.0.7"]))) == [])
        #expect(story.wait(.milliseconds(1490)) == [])
        #expect(story.wait(.milliseconds(10)).words == ["~tony"])
        #expect(story.service("tony")?.endpoints.map(\.address) == [try address("10.0.0.7")])
    }

    @Test func anotherAddressReplacesAtOnce() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony", ["10.0.0.1"])))
        #expect(story.tell(.resolved(try resolution("tony", ["10.0.0.11"]))).words == ["~tony"])
        #expect(story.service("tony")?.endpoints.map(\.address) == [try address("10.0.0.11")])
    }

    @Test func aNewInterfaceIsToldOnceItHasAnswered() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony")))
        #expect(story.tell(.appeared(try sighting("tony", eth1))) == [])
        #expect(story.tell(.resolved(try resolution("tony", eth1, ["10.0.1.7"]))).words == ["~tony"])
        #expect(story.service("tony")?.interfaces == [eth0, eth1])
    }

    @Test func loopbackIsTheLastToBeAsked() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(
            .appeared(try sighting("tony", lo)),
            .appeared(try sighting("tony", eth1)),
            .resolved(try resolution("tony", lo, txt: ["v": "lo"], ["127.0.0.1"])),
            .resolved(try resolution("tony", eth1, txt: ["v": "eth1"], ["10.0.1.7"]))
        )
        #expect(story.service("tony")?.txt.text(for: "v") == "eth1")
        #expect(story.service("tony")?.interfaces == [lo, eth1])
    }

    @Test func withoutResolvingPathsAreGatheredForAMoment() throws {
        var story = CatalogStory(try typeQuery(.none))
        #expect(story.tell(.appeared(try sighting("tony", eth0, .ipv4))) == [])
        #expect(story.wait(.milliseconds(10)) == [])
        #expect(story.tell(.appeared(try sighting("tony", eth1, .ipv4))) == [])
        #expect(story.wait(.milliseconds(20)).words == ["+tony"])
        #expect(story.service("tony")?.interfaces == [eth0, eth1])
        #expect(story.tell(.appeared(try sighting("tony", eth0, .ipv6))) == [])
        #expect(story.wait(.seconds(1)) == [])
        _ = story.tell(.appeared(try sighting("bob")))
        #expect(story.tell(.listed).words == ["+bob", "settled"])
    }

    @Test func aLostBackendRemovesNothingAndWhatIsNotRepeatedGoesLater() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(
            .appeared(try sighting("tony")),
            .resolved(try resolution("tony")),
            .appeared(try sighting("bob")),
            .resolved(try resolution("bob")),
            .disappeared(try sighting("bob")),
            .listed
        )
        #expect(story.tell(.backend(.down("gone")), .backend(.down("still gone"))).words == ["backend lost"])
        #expect(
            story.tell(.disappeared(try sighting("tony")), .resolutionFailed(try instance("tony"), .link(eth0))) == [])
        #expect(story.wait(.seconds(1000)) == [])
        #expect(story.tell(.backend(.up)).words == ["backend recovered"])
        #expect(
            story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony")), .listed).words == ["settled"]
        )
        #expect(story.wait(.seconds(10)).words == ["-bob"])
        #expect(story.service("tony")?.state == .resolved)
    }

    @Test func settledWaitsForWhatWasSightedBeforeTheListAndForNothingElse() throws {
        var story = CatalogStory(try typeQuery())
        #expect(story.tell(.appeared(try sighting("tony")), .listed, .appeared(try sighting("late"))) == [])
        #expect(story.tell(.resolved(try resolution("tony"))).words == ["+tony", "settled"])
        #expect(story.tell(.listed) == [])
    }

    @Test func aFullCatalogTakesNothingMoreAndSaysSoOnce() throws {
        var limits = DiscoveryLimits()
        limits.services = 3
        var story = CatalogStory(try typeQuery(.none), limits: limits)
        var words: [String] = []
        for number in 0..<10 { words += story.tell(.appeared(try sighting("s\(number)"))).words }
        #expect(words == ["degraded"])
        #expect(story.wait(.seconds(61)).words == ["+s0", "+s1", "+s2"])
        #expect(story.tell(.appeared(try sighting("s4"))).words == ["degraded"])
    }

    @Test func oneHostMayFillTheCatalogAndGivesWayToOthers() throws {
        var limits = DiscoveryLimits()
        limits.services = 20
        limits.servicesPerHost = 2
        var story = CatalogStory(try typeQuery(), limits: limits)
        var words: [String] = []
        for number in 0..<30 {
            words += story.tell(.appeared(try sighting("s\(number)")), .resolved(try resolution("s\(number)"))).words
        }
        #expect(words.count { $0.hasPrefix("+") } == 20)
        #expect(words.count { $0 == "degraded" } == 1)
        #expect(words.count { $0.hasPrefix("-") } == 0)
        for number in 0..<18 {
            let host = "h\(number + 2).local"
            let words = story.tell(
                .appeared(try sighting("other\(number)")), .resolved(try resolution("other\(number)", host: host))
            ).words
            #expect(words.count { $0.hasPrefix("-s") } == 1 && words.last == "+other\(number)")
        }
        // Each has its share now: later services are left out.
        let late = story.tell(
            .appeared(try sighting("late")), .resolved(try resolution("late", host: "h99.local"))
        )
        #expect(late.words.isEmpty)
        #expect(story.catalog.snapshot.count == 20)
    }

    @Test func oneHostHas32AddressesAtMost() throws {
        var story = CatalogStory(try typeQuery())
        let addresses = (0..<1000).map { "10.0.\($0 / 250).\($0 % 250 + 1)" }
        let told = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony", addresses)))
        #expect(told.words == ["degraded", "+tony"])
        #expect(story.service("tony")?.endpoints.count == 32)
    }

    @Test func onlyTheFamilyThatWasAskedForIsTold() throws {
        var query = try typeQuery()
        query.family = .ipv4
        var story = CatalogStory(query)
        _ = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony", ["10.0.0.7", "fe80::7%2"])))
        #expect(story.service("tony")?.endpoints.map(\.address) == [try address("10.0.0.7")])
    }

    @Test func anAddressThatOneAnswerHasTwiceIsToldOnce() throws {
        var story = CatalogStory(try typeQuery())
        let addresses = ["10.0.0.7", "10.0.0.8", "10.0.0.7"]
        _ = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony", addresses)))
        #expect(
            story.service("tony")?.endpoints.map(\.address) == [try address("10.0.0.7"), try address("10.0.0.8")])
    }

    @Test func anAnswerFromWhereAServiceIsNotSeenIsIgnored() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony")), .listed)
        let told = story.service("tony")
        let addresses = (1...40).map { "10.0.1.\($0)" }
        #expect(story.tell(.resolved(try resolution("tony", eth1, addresses))) == [])
        #expect(story.service("tony") == told)
    }

    @Test func factsOfUnknownServicesAreIgnored() throws {
        var story = CatalogStory(try typeQuery())
        let told = story.tell(
            .resolved(try resolution("tony")),
            .disappeared(try sighting("tony")),
            .resolutionFailed(try instance("tony"), .link(eth0))
        )
        #expect(told == [])
        #expect(story.catalog.nextDeadline == nil)
    }

    @Test func twoChangesOfOneServiceAtOnceThenOneASecondAndTheLastIsNotLost() throws {
        var story = CatalogStory(try typeQuery(), keepsApart: true)
        _ = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony")), .listed)
        #expect(story.tell(.resolved(try resolution("tony", port: 1))).words == ["~tony"])
        // On the other link.
        #expect(story.wait(.milliseconds(30)) == [])
        #expect(story.tell(.resolved(try resolution("tony", port: 2))).words == ["~tony"])
        #expect(story.tell(.resolved(try resolution("tony", port: 3))) == [])
        #expect(story.wait(.milliseconds(960)) == [])
        #expect(story.tell(.resolved(try resolution("tony", port: 4))) == [])
        #expect(story.wait(.milliseconds(10)).words == ["~tony"])
        #expect(story.service("tony")?.port?.rawValue == 4)
        // One a second from then on.
        #expect(story.tell(.resolved(try resolution("tony", port: 5))) == [])
        #expect(story.wait(.milliseconds(999)) == [])
        #expect(story.wait(.milliseconds(1)).words == ["~tony"])
        #expect(story.catalog.nextDeadline == nil)
        #expect(story.wait(.seconds(1)) == [])
        #expect(story.tell(.resolved(try resolution("tony", port: 6))).words == ["~tony"])
        #expect(story.tell(.resolved(try resolution("tony", port: 7))) == [])
        #expect(story.wait(.seconds(1)).words == ["~tony"])
        #expect(story.wait(.seconds(2)) == [])
        #expect(story.tell(.resolved(try resolution("tony", port: 8))).words == ["~tony"])
        #expect(story.tell(.resolved(try resolution("tony", port: 9))).words == ["~tony"])
    }

    @Test func anEndIsToldAtOnceAndAReturnAfterASecond() throws {
        var story = CatalogStory(try typeQuery(), keepsApart: true)
        _ = story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony")), .listed)
        #expect(story.tell(.withdrawn(try sighting("tony"))) == [])
        #expect(story.wait(.milliseconds(280)).words == ["-tony"])
        #expect(story.tell(.appeared(try sighting("tony")), .resolved(try resolution("tony"))) == [])
        #expect(story.wait(.milliseconds(990)) == [])
        #expect(story.wait(.milliseconds(10)).words == ["+tony"])
        // But the first list after a break has all that is there.
        #expect(story.tell(.withdrawn(try sighting("tony"))) == [])
        #expect(story.wait(.milliseconds(280)).words == ["-tony"])
        let back = story.tell(
            .backend(.down("gone")), .backend(.up), .appeared(try sighting("tony")), .resolved(try resolution("tony")),
            .listed)
        #expect(back.words == ["backend lost", "backend recovered", "+tony", "settled"])
    }
}
