public import DNSSD

/// What a public key is known by: the SHA-256 of its SubjectPublicKeyInfo (RFC 5280 §4.1), as RFC 7469 §2.4 pins keys.
///
/// A certificate that is made anew for the same key has the same fingerprint.
public struct KeyFingerprint: Hashable, Sendable {
    /// The length of `bytes`.
    public static let length = 32

    /// The digest.
    public let bytes: [UInt8]

    /// - Returns: nil unless there are 32 bytes.
    public init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }
}

extension KeyFingerprint: LosslessStringConvertible {
    private static let prefix = "SHA256:"

    /// Reads `SHA256:` and base64, with or without its padding, as ssh-keygen(1) writes it.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= Self.prefix.utf8.count + 44 else { return nil }
        let digits = text.dropFirst(Self.prefix.count)
        let unpadded = digits.hasSuffix("=") ? digits.dropLast() : digits
        guard let bytes = Base64.decode(unpadded + "=") else { return nil }
        self.init(bytes)
    }

    /// `SHA256:` and base64 without padding; safe for a terminal.
    public var description: String { Self.prefix + Base64.encode(bytes).prefix { $0 != "=" } }
}

extension KeyFingerprint {
    /// How many words: 80 bits, which no one finds a second key for.
    static let wordCount = 10

    /// Ten words for reading aloud, one for each of the first bytes.
    public var words: [String] { bytes.prefix(Self.wordCount).map { Self.words[Int($0)] } }

    /// The PGP word list's words of two syllables, in its order: a word a byte.
    private static let words =
        """
        aardvark absurd accrue acme adrift adult afflict ahead aimless algol allow alone ammo ancient apple artist
        assume athens atlas aztec baboon backfield backward banjo beaming bedlamp beehive beeswax befriend belfast
        berserk billiard bison blackjack blockade blowtorch bluebird bombast bookshelf brackish breadline breakup
        brickyard briefcase burbank button buzzard cement chairlift chatter checkup chisel choking chopper christmas
        clamshell classic classroom cleanup clockwork cobra commence concert cowbell crackdown cranky crowfoot crucial
        crumpled crusade cubic dashboard deadbolt deckhand dogsled dragnet drainage dreadful drifter dropper drumbeat
        drunken dupont dwelling eating edict egghead eightball endorse endow enlist erase escape exceed eyeglass
        eyetooth facial fallout flagpole flatfoot flytrap fracture framework freedom frighten gazelle geiger glitter
        glucose goggles goldfish gremlin guidance hamlet highchair hockey indoors indulge inverse involve island
        jawbone keyboard kickoff kiwi klaxon locale lockup merit minnow miser mohawk mural music necklace neptune
        newborn nightbird oakland obtuse offload optic orca payday peachy pheasant physique playhouse pluto preclude
        prefer preshrunk printer prowler pupil puppy python quadrant quiver quota ragtime ratchet rebirth reform
        regain reindeer rematch repay retouch revenge reward rhythm ribcage ringbolt robust rocker ruffled sailboat
        sawdust scallion scenic scorecard scotland seabird select sentence shadow shamrock showgirl skullcap skydive
        slingshot slowdown snapline snapshot snowcap snowslide solo southward soybean spaniel spearhead spellbind
        spheroid spigot spindle spyglass stagehand stagnate stairway standard stapler steamship sterling stockman
        stopwatch stormy sugar surmount suspense sweatband swelter tactics talon tapeworm tempest tiger tissue tonic
        topmost tracker transit trauma treadmill trojan trouble tumor tunnel tycoon uncut unearth unwind uproot upset
        upshot vapor village virus vulcan waffle wallet watchword wayside willow woodlark zulu
        """.split { $0 == " " || $0 == "\n" }.map(String.init)
}

/// What a TXT record says of its service's key, `tls=1` and `fp=SHA256:…`: a hint, which decides nothing. Who takes a service's name takes
/// its TXT record, too.
public struct KeyHint: Hashable, Sendable {
    /// The key.
    public var key: KeyFingerprint

    /// The hint of a key.
    public init(_ key: KeyFingerprint) { self.key = key }

    /// Reads a record; nil where it names no key.
    public init?(_ record: TXTRecord) {
        guard let key = record.text(for: "fp").flatMap({ KeyFingerprint($0) }) else { return nil }
        self.key = key
    }

    /// Adds it to a record to publish.
    /// - Throws: as `TXTRecord.append(key:text:)`.
    public func add(to record: inout TXTRecord) throws(DiscoveryError) {
        try record.append(key: "tls", text: "1")
        try record.append(key: "fp", text: key.description)
    }

    /// Warns, before it is spoken to, where the hint differs from what is known of a service, or from what is pinned; one line, safe for a
    /// terminal.
    public func warning(of name: PeerName, _ known: KnownPeers, _ trust: PeerTrust = .known) -> String? {
        let (keys, kind) =
            switch trust {
            case .known, .first, .strangers: (known.keys(of: name), "known")
            case .pinned(let keys): (Array(keys), "wanted")
            // A key says nothing of its certificate.
            case .authority: ([], "known")
            }
        guard !keys.isEmpty, !keys.contains(key) else { return nil }
        return "\(name.text) announces another key than the one that is \(kind), \(key): "
            + "it will be refused if it has it"
    }
}
