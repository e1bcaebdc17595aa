import DNSMessage
import DNSSD
import Foundation
import Testing

@testable import UnicastEngine

@Suite("Key files, as BIND has them")
struct TSIGKeyFileTests {
    static let secret = "c2VjcmV0LXNlY3JldA=="

    @Test(
        "Any white space, comments, quotation marks or none, either order",
        arguments: [
            "key \"pub.home.example.org\" {\n\talgorithm hmac-sha256;\n\tsecret \"\(secret)\";\n};\n",
            "key pub.home.example.org. { secret \(secret); algorithm HMAC-SHA256.; };",
            "// a key\n# of mine\nkey /* of *//**/\"pub.home.example.org\"{algorithm \"hmac-sha256\";secret\"\(secret)\";}",
        ])
    func valid(_ text: String) throws {
        let key = try TSIGKeyFile(parsing: Array(text.utf8)).key
        #expect(key.name.description == "pub.home.example.org." && key.algorithm == .sha256)
        #expect(key.secret == Array("secret-secret".utf8))
    }

    static let good = "algorithm hmac-sha256; secret \"\(secret)\";"

    @Test(
        "What is no key is said in words of its own, which hold nothing of the file",
        arguments: [
            ("", "is not a key"), ("key \"a\" {", "is not a key"),
            ("key \"a\" { algorithm hmac-sha256; };", "is not a key"),
            ("zone \"a\" { \(good) };", "is not a key"),
            ("key \"a\" { \(good) secret \"\(secret)\"; };", "is not a key"),
            ("key \"a\" { \(good) }; key \"b\" { \(good) };", "more than one key"),
            ("key \"\" { \(good) };", "without a name"),
            ("key \"a\" { algorithm hmac-md5; secret \"\(secret)\"; };", "another algorithm"),
            ("key \"a\" { algorithm hmac-sha256; secret \"\(secret)!\"; };", "not base64"),
            ("key \"a\" { algorithm hmac-sha256; secret \"\"; };", "not base64"),
            ("key \"a\" { /* \(good) };", "comment without an end"), ("key \"a { };", "quotation mark"),
        ])
    func garbage(_ text: String, _ part: String) {
        let fault = #expect(throws: TSIGKeyFile.Fault.self) { try TSIGKeyFile(parsing: Array(text.utf8)) }
        #expect(fault?.text.contains(part) == true, "\(fault?.text ?? "")")
        #expect(fault?.text.contains(Self.secret) == false)
    }

    @Test("Bytes at random are refused, without a trap")
    func random() {
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...60)).map { _ in "key{}\";/*# \n\\\u{FF}a".utf8.randomElement() ?? 0 }
            _ = try? TSIGKeyFile(parsing: bytes)
        }
    }

    @Test("A file that others may read or write, a missing, a large one, a directory and a pipe: each has its sentence")
    func files() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)")
            .path(percentEncoded: false)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = "\(directory)/a.key"
        let text = "key \"pub\" { \(Self.good) };"
        try Data(text.utf8).write(to: URL(filePath: path))
        func outcome(_ path: String) -> String {
            do throws(DiscoveryError) {
                return try TSIGKey(file: path).name.description
            } catch {
                #expect(error.code == .misconfigured && !error.message.contains(Self.secret))
                return error.message
            }
        }
        for (mode, part) in [
            (0o600, "pub."), (0o640, "pub."), (0o644, "others"), (0o642, "others"), (0o601, "others"),
        ] as [(mode_t, String)] {
            chmod(path, mode)
            #expect(outcome(path).contains(part), "\(mode)")
        }
        #expect(outcome("\(directory)/b.key").contains("not there"))
        #expect(outcome(directory).contains("no regular file"))
        mkfifo("\(directory)/pipe", 0o600)
        #expect(outcome("\(directory)/pipe").contains("no regular file"))
        try Data(repeating: 0x20, count: 70_000).write(to: URL(filePath: path))
        chmod(path, 0o600)
        #expect(outcome(path).contains("larger than 64 KiB"))
    }
}
